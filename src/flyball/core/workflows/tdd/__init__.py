"""The `tdd` workflow: RED -> GREEN -> REFACTOR -> DOCUMENT -> QA -> SHIP."""
