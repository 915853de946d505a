"""What a recall brought: the learnings a turn is given, why, and the decisions that may contradict each other."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["decision", "anti-pattern"]


class RecalledLearning(msgspec.Struct, frozen=True, omit_defaults=True):
    """One learning as a prompt shows it in `line`; `score` and `why` say what it was chosen for, `files` which of its files the turn shares."""

    id: str
    kind: Kind
    title: str
    choice: str
    line: str
    score: float
    why: str
    files: tuple[str, ...] = ()


class Contradiction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision that is not accepted yet, and an earlier one on the same subject that says something else; `subject` is what they share."""

    new: str
    old: str
    told: str
    subject: str
