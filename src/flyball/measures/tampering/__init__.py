"""What would make a gate say more than is true: protected paths, planted failures, tricks by name."""
