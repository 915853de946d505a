"""What commands share: options, choosing a task, sessions, exit codes, output."""
