"""Reading and writing text: lines, fences, JSON, quantities, and what no screen can be tricked by."""
