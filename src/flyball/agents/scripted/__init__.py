"""The scripted agent and its scripts."""
