"""The workflows: one folder each, with its stages, facts, fold and prompts; all pure."""
