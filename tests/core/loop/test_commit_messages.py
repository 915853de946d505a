"""Commit messages as a maintainer would write them."""

import pytest
from hypothesis import example, given, strategies as st

from flyball.core.loop.commit_messages import message, subject
from flyball.core.model.task import Item

ITEMS = (Item("AC-1", "rows are\n parsed"), Item("AC-2", "empty rows are skipped " * 6))


@pytest.mark.req("C52", "O44")
def test_a_stage_has_its_area_the_items_and_the_checkpoint_as_a_trailer():
    lines = message(subject("tests", "# Parse the rows.\n\nAll of them."), "RED", ITEMS).splitlines()
    assert lines[:3] == ["tests: Parse the rows", "", "- AC-1: rows are parsed"]
    assert lines[-2:] == ["", "Checkpoint: RED - AC-1, AC-2"]
    assert all(len(line) <= 72 for line in lines)


def test_a_subject_is_cut_between_words_and_never_empty():
    assert subject("docs", "a " * 80).endswith("a…")
    assert len(subject("docs", "a " * 80)) <= 72
    assert subject("", "x" * 200)
    assert subject("fix", " \n ") == "fix: work"


@example("#", [("0", ""), ("0", "")])
@given(st.text(), st.lists(st.tuples(st.text(min_size=1, max_size=9), st.text())))
def test_no_text_of_others_makes_a_trailer_of_its_own(request_text, texts):
    items = [Item(" ".join(f"AC-{n}" for n in [number]), text) for number, (_, text) in enumerate(texts, 1)]
    told = message(subject("", request_text), "RED", items).split("\n\n")
    assert told[-1].startswith("Checkpoint: RED - ")
    assert "\n" not in told[-1]
    assert "\n" not in told[0]
