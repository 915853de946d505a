"""Roles as files of the programs people use."""
