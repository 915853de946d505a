"""Looks at what a product promises: its rules and their tests, limits, states."""
