"""The `backlog` workflow: SELECT -> IMPLEMENT -> VALIDATE -> EVALUATE, and the evaluator it shares with `flyball evaluate`."""
