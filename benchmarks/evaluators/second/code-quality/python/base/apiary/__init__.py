"""Records of a small apiary."""
