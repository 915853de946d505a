"""What judges are asked, and how much of their answers is believed."""

import json

import pytest

from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.choosing import choose
from flyball.core.evaluation.findings import PassResult
from flyball.core.evaluation.judging import (
    FENCE,
    TrackMatter,
    answer_schema,
    failed_seat,
    judged_passes,
    read_answer,
    skipped_seat,
)

MATTER = TrackMatter("t", "abc123", "the spec", changed=("a.py",), measured={"ui-ux": (PassResult("layout", "pass"),)})
SEATS = judged_passes(choose({"evaluators": ["ui-ux", "code-quality"]}, ""), BUILT_IN, MATTER)
SEAT = SEATS[0]
FILES = {"a.py": ["import os", "x = 1  # one", "y = 2"]}


def answer(**changes):
    cited = {"file": "a.py", "line": 2, "quote": "x = 1", "what": "the value"}
    passes = [{"name": name, "status": "pass", "evidence": [cited]} for name in SEAT.passes]
    passes[0] |= changes
    return f"I looked.\n```{FENCE}\n{json.dumps({'evaluator': 'ui-ux', 'passes': passes})}\n```\n"


def read(message):
    return read_answer(SEAT, message, FILES.get)


@pytest.mark.req("D20")
def test_each_evaluator_with_something_to_judge_gets_a_seat_with_its_questions():
    assert [seat.role for seat in SEATS] == ["eval-ui-ux"], "code-quality is measured whole"
    for word in ("abc123", "the spec", "a.py", "visual consistency", FENCE, "do not repeat or overrule"):
        assert word in SEAT.prompt
    assert answer_schema()["$defs"]


@pytest.mark.req("D20")
def test_an_answer_with_evidence_passes_and_nothing_of_it_is_lost():
    results = read(answer())
    assert [each.status for each in results] == ["pass"] * len(SEAT.passes)
    assert results[0].evidence == ("a.py:2 the value",)


@pytest.mark.req("D20")
@pytest.mark.parametrize(
    ("file", "line", "quote", "counts"),
    [
        ("a.py", 2, "x = 1", 2),
        ("./a.py", 1, "y = 2", 3),
        ("a.py", 9, "x = 1", 0),
        ("a.py", 2, "x = 3", 0),
        ("a.py", 2, "", 0),
        ("b.py", 2, "x = 1", 0),
    ],
)
def test_a_cited_line_that_does_not_exist_voids_the_finding(file, line, quote, counts):
    finding = {"file": file, "line": line, "quote": quote, "message": "wrong", "action": "mend it"}
    result = read(answer(findings=[finding]))[0]
    assert bool(result.findings) == bool(counts)
    assert result.status == ("fail" if counts else "pass")
    if counts:
        assert result.findings[0].line == counts
    else:
        assert "void" in result.notes[0]


@pytest.mark.req("D20", "D25")
@pytest.mark.parametrize(
    ("changes", "status"),
    [({"evidence": []}, "fail"), ({"status": "fail"}, "fail"), ({"status": "n/a", "reason": "no text"}, "n/a")],
)
def test_a_word_without_evidence_is_no_pass(changes, status):
    assert read(answer(**changes))[0].status == status


@pytest.mark.req("D25")
@pytest.mark.parametrize(
    "message",
    [
        "",
        "All good!",
        f"```{FENCE}\n{{\n```",
        f'```{FENCE}\n{{"evaluator": "ui-ux", "passes": []}}\n```',
        answer(status="great"),
    ],
)
def test_an_answer_that_cannot_be_understood_fails_every_pass_with_the_reason(message):
    reason = read(message)
    assert isinstance(reason, str)
    results = failed_seat(SEAT, reason)
    assert all(each.status == "fail" and reason in each.reason for each in results)
    assert all(each.status == "skipped" for each in skipped_seat(SEAT))
