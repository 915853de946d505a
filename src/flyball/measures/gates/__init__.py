"""Runs gates on a tree and reads their reports."""
