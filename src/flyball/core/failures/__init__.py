"""When two failures are the same: signatures of outputs with all that differs between runs masked."""
