"""Looks at what a program keeps: migrations, models, the columns that queries ask for."""
