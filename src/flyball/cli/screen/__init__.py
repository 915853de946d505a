"""The live view, the plain view, keys and questions of a run."""
