"""What is true of a candidate tree: gates run, reports read, tricks found, code and documents measured."""
