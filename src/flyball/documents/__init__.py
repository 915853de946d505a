"""Files of the repository that people read: the document a task starts from, and what is rendered into `.loop/`."""
