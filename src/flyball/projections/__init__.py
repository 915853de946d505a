"""Folds of a task's facts into what people and programs read; none holds state, none does I/O."""
