"""The command line: one file per command; each prints a result, or one sentence that says what to do."""
