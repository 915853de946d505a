"""What a run shows, and what a person types into it."""
