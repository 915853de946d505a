"""The page of facts, effects and outcomes names every one that can be stored, and no other."""

import re
from pathlib import Path
from types import UnionType
from typing import get_args

import pytest
from msgspec.inspect import StructType, type_info

from flyball.core.effects import Effect
from flyball.core.events import Fact
from flyball.core.outcomes import Outcome, TurnKind

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def tags(union: UnionType) -> set[str]:
    kinds = [type_info(kind) for kind in get_args(union)]
    return {str(kind.tag) for kind in kinds if isinstance(kind, StructType)}


@pytest.mark.parametrize(("title", "union"), [("Facts", Fact), ("Effects", Effect), ("Outcomes", Outcome)])
def test_every_stored_name_has_a_row_and_every_row_a_stored_name(title: str, union: UnionType) -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \|", section(title), re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == tags(union)


def test_every_way_a_turn_can_end_is_named() -> None:
    assert [kind for kind in get_args(TurnKind) if f"`{kind}`" not in section("Outcomes")] == []
