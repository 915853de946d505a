"""The reference names every pass there is, every word that chooses, and no other."""

import re
from pathlib import Path

import pytest

from flyball.core.evaluation.catalogue import BUILT_IN

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "evaluators.md").read_text(encoding="utf-8")


@pytest.mark.req("D20", "D21", "D22", "D23", "D24")
def test_each_pass_has_its_row_with_what_is_measured_and_what_is_judged():
    section = PAGE.partition("\n## Passes\n")[2].partition("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| ")][1:]
    told = [(row[1].strip(), row[2].strip() != "–", row[3].strip() != "–") for row in rows]
    assert told == [(each.name, bool(each.measured), bool(each.judged)) for card in BUILT_IN for each in card.passes]
    assert [len(card.passes) for card in BUILT_IN] == [8, 6, 6, 6]


@pytest.mark.req("D1")
def test_each_evaluator_has_its_words_and_types():
    for card in BUILT_IN:
        assert f"| `{card.name}` | {', '.join(card.words)} | {', '.join(card.types)} |" in PAGE
