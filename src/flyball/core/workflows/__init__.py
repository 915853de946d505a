"""The workflows: each a pure module that says, stage by stage, which effects come next."""
