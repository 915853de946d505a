"""Whether any measurement notices the change: what is changed is broken on purpose, and a test must fail."""
