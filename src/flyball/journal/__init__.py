"""The journal: facts on disk, who may write them, what people said, and big texts by their hash."""
