"""Looks at what a program offers and asks of others: contracts, guards of routes, its environment."""
