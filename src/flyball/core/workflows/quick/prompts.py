"""The prompts of the `quick` workflow."""

from __future__ import annotations

from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, WORKING, Role, role_named
from flyball.core.model.state import Lane, State

CARDS = (
    Role(
        "implementer",
        "Does what is asked for, with tests, all of it and nothing besides.",
        WORKING,
        f"Do what is asked for below: all of it, and nothing besides. {prompts.NARROW} Add tests that fail without your change, with the criterion's id in the name of each (AC-1 "
        f"as `ac_1`): work that no test notices is not accepted. {prompts.PROTECTED}",
    ),
    Role(
        "reviewer",
        "Reviews a change against what was asked for. Changes no file.",
        CHECKING,
        prompts.REVIEW,
        reviews=True,
        form="judgement",
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    context = (prompts.request(state), prompts.criteria(state))
    return prompts.compose(state, lane, role_named(role, CARDS), purpose, context=context)
