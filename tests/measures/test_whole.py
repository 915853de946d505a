"""A task's measurements one after another, each with what the one before it kept."""

import pytest

from flyball.core.failures.signature import signature

pytestmark = pytest.mark.slow


@pytest.mark.req("C40", "C41", "C42")
def test_baseline_red_green_follow_from_each_other(lab) -> None:
    base = lab.measure("baseline")
    assert not base.broken
    lab.baseline_ref = lab.accepted_ref = base.tests_ref
    tests = "from calc import mul\n\n\ndef test_ac_1():\n    assert mul(2, 3) == 6\n"
    red = lab.measure("red", {"tests/test_mul.py": tests})
    assert [(t.outcome, t.reason, t.criteria) for t in red.new_tests] == [("uncollected", "missing-name", ("AC-1",))]
    lab.accepted, lab.accepted_ref = red.candidate, red.tests_ref

    lazy = lab.measure("green")
    assert lazy.failing == ("tests/test_mul.py::test_ac_1",)
    assert lazy.missing == ()
    assert lazy.unchanged
    assert lazy.changed == ()
    assert (lazy.counts.total, lazy.counts.passing, lazy.counts.failing) == (2, 1, 1)
    wrong = lab.measure("green", {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return 1\n"})
    assert wrong.failing == ("tests/test_mul.py::test_ac_1",)
    assert wrong.signature is not None
    assert lazy.signature is not None
    assert wrong.signature.coarse == lazy.signature.coarse
    assert wrong.signature.fine != lazy.signature.fine
    again = lab.measure("green")
    assert again.signature == wrong.signature
    assert again.signature.coarse == signature("", wrong.failing).coarse

    right = lab.measure(
        "green", {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n"}
    )
    assert right.green_runs == 2
    assert not right.unchanged
    assert right.changed == ("calc.py",), "what differs from what is accepted"
    assert right.quality is not None
    assert lab.tests(right)["tests/test_mul.py::test_ac_1"] == "passing"
    lab.accepted, lab.accepted_ref = right.candidate, right.tests_ref
    assert lab.measure("refactor").gates[0].passed


@pytest.mark.req("C42")
def test_the_users_repository_and_the_workspace_are_not_touched_by_a_measurement(lab) -> None:
    before = {p: p.read_bytes() for p in (*lab.repository.rglob("*"), *lab.workspace.root.rglob("*")) if p.is_file()}
    lab.measure("green", {})
    after = {p: p.read_bytes() for p in (*lab.repository.rglob("*"), *lab.workspace.root.rglob("*")) if p.is_file()}
    assert after == before
