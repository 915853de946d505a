"""The story of a task, folded for screens and reports."""
