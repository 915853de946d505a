"""Accounts at providers: their limits, reset times and models."""
