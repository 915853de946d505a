"""Whether a loop makes progress: observations, the monitor's verdict, remedies, the breaker."""
