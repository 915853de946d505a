"""Is a loop going anywhere: observations, the monitor's verdict, remedies, the breaker."""
