"""The user's own tree as a place to work in: what is guarded there, what is put away, and how it is restored."""
