"""One turn of any agent's program: environment, transcript, time limits."""
