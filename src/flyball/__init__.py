"""flyball: a governor for autonomous coding agents."""

__version__ = "0.1.0"
