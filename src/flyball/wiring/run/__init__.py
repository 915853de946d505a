"""The controller of one task, and the parts it is built from."""
