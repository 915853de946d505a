"""A turn's output as lines for people who watch."""
