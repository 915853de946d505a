"""What a program printed, read into how its turn ended."""
