"""Gates run on a tree, and what their reports say."""
