"""The fold: adds each fact to the state and makes no choice."""
