"""What a turn says, for whoever watches."""
