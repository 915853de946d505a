"""Reads a program's output into the outcome of its turn."""
