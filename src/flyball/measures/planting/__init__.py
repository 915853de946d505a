"""Plants failures in accepted tests: one that stays green, or is not run, shows that reports mean nothing."""
