"""What a workflow says of its roles to people and programs that call on them by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from flyball.core.loop.forms import Form

Ability = Literal["read", "search", "edit", "shell", "agent", "ask", "todo"]

LOOKING: tuple[Ability, ...] = ("read", "search")
CHECKING: tuple[Ability, ...] = (*LOOKING, "shell")
WORKING: tuple[Ability, ...] = (*LOOKING, "edit", "shell")


class Role(msgspec.Struct, frozen=True):
    """What an agent may be asked to be: when to call on it, what it needs to be able to do, and what it is told.

    A role that `reviews` judges what others wrote: another model than theirs is wanted for it. `form` is what it reports.
    """

    name: str
    description: str
    abilities: tuple[Ability, ...]
    text: str
    reviews: bool = False
    form: Form = "work"


def role_named(name: str, cards: Iterable[Role]) -> Role:
    return next((card for card in cards if card.name == name), Role(name, "", WORKING, f"You are the {name}."))
