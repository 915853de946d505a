"""Tasks of a repository: open, view, steer, roll back, reopen and clean them."""
