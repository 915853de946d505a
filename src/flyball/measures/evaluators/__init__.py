"""Runs evaluators on a track's tree and on the one before it: tools, rules, a browser; each evaluator in a process of its own."""
