"""Shared memory: what became of a task's learnings, which of them fit a turn, and what is recorded of it."""
