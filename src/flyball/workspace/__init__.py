"""Git plumbing, isolation, checkpoints, the vault and the sandbox."""
