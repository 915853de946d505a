"""The page of facts, effects and outcomes names every one that can be stored, and no other."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from flyball.core import vocabulary
from flyball.core.model.outcomes import TurnKind

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("title", "kinds"),
    [("Facts", vocabulary.facts()), ("Effects", vocabulary.effects()), ("Outcomes", vocabulary.outcomes())],
    ids=["facts", "effects", "outcomes"],
)
def test_every_stored_name_has_a_row_and_every_row_a_stored_name(
    title: str, kinds: tuple[type[msgspec.Struct], ...]
) -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \|", section(title), re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert set(rows) == {kind.__struct_config__.tag for kind in kinds}


def test_every_way_a_turn_can_end_is_named() -> None:
    assert [kind for kind in get_args(TurnKind) if f"`{kind}`" not in section("Outcomes")] == []
