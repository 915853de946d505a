"""Shared by commands: options, choosing a task, exit codes, output."""
