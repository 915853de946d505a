"""The loop every workflow shares: check, spawn, monitor, evaluate, and what opens and ends a task."""
