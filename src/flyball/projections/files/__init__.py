"""The text of every file flyball renders."""
