"""Signatures of what real tools printed: tests/core/failures/outputs, made by benchmarks/failing_outputs.py."""

import functools
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from flyball.core.failures.signature import Signature, signature

OUTPUTS = Path(__file__).parent / "outputs"
TOOLS = "cargo eslint go javac jest make mypy node npm pytest ruff tsc unittest vitest".split()
HALVES = ("tuning", "held-out")
# Each was measured before any mask was changed because of it; docs/explanation/error-signatures.md has the figures.
NOT_TUNED_ON = ("held-out", "unseen", "later")
RERUN, SHIFTED, APART = 0.97, 0.95, 0.99


class Output(NamedTuple):
    case: str
    group: str
    pad: int
    text: str
    signed: Signature

    @property
    def hashes(self) -> tuple[str, str]:
        """Without the line for people, which names whichever failure came first."""
        return self.signed.coarse, self.signed.fine


@functools.cache
def outputs(half: str, tool: str) -> tuple[Output, ...]:
    kept = json.loads((OUTPUTS / half / f"{tool}.json").read_text(encoding="utf-8"))
    texts = ["\n".join(sample["out"]) for sample in kept]
    return tuple(
        Output(sample["case"], sample["group"], sample["pad"], text, signature(text))
        for sample, text in zip(kept, texts, strict=True)
    )


def pairs(half: str, tool: str) -> Iterator[tuple[Output, Output]]:
    return itertools.combinations(outputs(half, tool), 2)


def share(answers: list[bool]) -> float:
    assert answers
    return sum(answers) / len(answers)


@pytest.mark.req("M20")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_failed_in_several_ways_and_each_was_seen_several_times(tool):
    for half in HALVES:
        cases = [output.case for output in outputs(half, tool)]
        assert len(set(cases)) >= 4
        assert all(cases.count(case) >= 3 for case in cases)


@pytest.mark.req("M20")
def test_the_runs_of_one_failure_do_not_read_the_same():
    alike = [
        one.text == other.text
        for half in HALVES
        for tool in TOOLS
        for one, other in pairs(half, tool)
        if one.case == other.case
    ]
    assert share(alike) < 0.1


@pytest.mark.req("M20")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_failure_has_one_signature_in_all_its_runs(tool):
    broken = {one.case for one, other in pairs("tuning", tool) if one.case == other.case and one.hashes != other.hashes}
    assert broken == set()


@pytest.mark.req("M20")
@pytest.mark.parametrize("tool", TOOLS)
def test_two_failures_have_two_signatures(tool):
    confused = {
        (one.case, other.case)
        for one, other in pairs("tuning", tool)
        if one.case != other.case and one.signed.fine == other.signed.fine
    }
    assert confused == set()


@pytest.mark.req("M20")
def test_on_outputs_other_than_those_the_masks_were_made_for_signatures_are_as_good_as_promised():
    every = [pair for half in NOT_TUNED_ON for tool in TOOLS for pair in pairs(half, tool)]
    same = [(one, other) for one, other in every if one.case == other.case]
    assert share([one.signed.fine == other.signed.fine for one, other in same if one.pad == other.pad]) >= RERUN
    assert share([one.signed.fine == other.signed.fine for one, other in same if one.pad != other.pad]) >= SHIFTED
    assert share([one.signed.fine != other.signed.fine for one, other in every if one.case != other.case]) >= APART


@pytest.mark.req("M21")
@pytest.mark.parametrize("tool", TOOLS)
def test_failures_of_one_test_or_file_share_the_coarse_signature_only(tool):
    alike = [
        (one, other)
        for half in HALVES
        for one, other in pairs(half, tool)
        if one.group == other.group and one.case != other.case
    ]
    assert alike, "no two failures of one place"
    assert [one.case for one, other in alike if one.signed.coarse != other.signed.coarse] == []
    assert [one.case for one, other in alike if one.signed.fine == other.signed.fine] == []


@pytest.mark.req("M21")
def test_a_signature_depends_on_nothing_but_the_text():
    last = [outputs("held-out", tool)[-1] for tool in TOOLS]
    program = (
        "import json, sys; from flyball.core.failures.signature import signature;"
        "print(json.dumps([signature(text).fine for text in reversed(json.load(sys.stdin))]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([output.text for output in last]),
        env=os.environ | {"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LANG": "C"},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert list(reversed(json.loads(done.stdout))) == [output.signed.fine for output in last]
