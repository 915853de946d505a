"""Settings: read from files and options, checked, and trusted only where a person said so."""
