"""Which defects count against a track, and what passes and evaluators make of them."""

import pytest

from flyball.core.evaluation.findings import (
    NEEDS_A_MODEL,
    Changes,
    PassResult,
    TrackDefect,
    broken_evaluator,
    evaluator_result,
    judged_by,
    part,
    together,
)

CHANGES = Changes({"a.py": ((3, 5),), "new.py": ((1, 9),)}, {"moved.py": "old.py"})


def defect(file: str, line: int, **more: object) -> TrackDefect:
    return TrackDefect("R", "message 1", file, line, text="  x = 1", **more)  # type: ignore[arg-type]


@pytest.mark.req("D20")
def test_a_finding_counts_if_it_touches_a_changed_line_or_was_not_there_before():
    on_line, spanning, known, consequence = (
        defect("a.py", 4),
        defect("a.py", 1, end_line=3),
        defect("a.py", 9),
        defect("b.py", 2),
    )
    counting, older = part([on_line, spanning, known, consequence], [defect("a.py", 7)], CHANGES)
    assert set(counting) == {on_line, spanning, consequence}
    assert older == (known,)


@pytest.mark.req("D20")
def test_what_only_moved_or_got_other_numbers_is_older():
    before = [defect("old.py", 40)]
    after = [TrackDefect("R", "message 22", "moved.py", 8, text="x = 1")]
    assert part(after, before, CHANGES) == ((), tuple(after))
    assert len(part([*after, *after, defect("moved.py", 9)], before, CHANGES)[0]) == 1, "two are not one"


@pytest.mark.req("D20")
def test_a_pass_with_only_older_findings_passes_and_lists_them():
    result = judged_by("patterns", [defect("a.py", 9)], [defect("a.py", 9)], CHANGES)
    assert result.status == "pass"
    assert result.older


@pytest.mark.req("D20")
@pytest.mark.parametrize(
    ("statuses", "whole", "measured_only"),
    [
        (["pass", "n/a"], "PASS", "PASS"),
        (["pass", "fail"], "FAIL", "FAIL"),
        (["pass", "skipped"], "FAIL", "FAIL"),
        (["pass", "left to a judge"], "FAIL", "PASS"),
        (["n/a", "n/a"], "FAIL", "FAIL"),
        (["skipped"], "FAIL", "FAIL"),
        ([], "FAIL", "FAIL"),
    ],
)
def test_a_failed_pass_a_skipped_one_and_none_run_are_no_pass(statuses, whole, measured_only):
    judged = PassResult("j", "skipped", reason=NEEDS_A_MODEL)
    passes = [judged if each == "left to a judge" else PassResult(str(n), each) for n, each in enumerate(statuses)]
    assert evaluator_result("x", ("w",), passes, measured_only=False).verdict == whole
    result = evaluator_result("x", ("w",), passes, measured_only=True)
    assert result.verdict == measured_only
    assert broken_evaluator("x", (), "it crashed").verdict == "FAIL"


def test_parts_of_a_pass_make_one_result_and_the_worst_counts():
    parts = [
        PassResult("p", "pass"),
        PassResult("p", "fail", reason="no tool"),
        PassResult("p", "n/a", reason="nothing"),
    ]
    assert together("p", parts) == PassResult("p", "fail", reason="no tool")
    assert together("p", parts[::2]).status == "pass"
    assert together("p", []).status == "skipped"
