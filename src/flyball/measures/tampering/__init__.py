"""Finds weakened tests and other tricks: protected paths, planted failures, tricks by name."""
