"""Commands that need no task: doctor, init, evaluate, monitor."""
