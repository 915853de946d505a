"""Measures a candidate tree: runs gates, reads reports, finds tricks, checks code and documents."""
