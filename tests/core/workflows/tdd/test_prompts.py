"""What a turn is told: all that is known and needed, each in its place, and nothing else."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.core.memory.folding import learnings_of
from tests.support.builders import a_state
from tests.support.simulator import START, a_task, ok

from flyball.core.claims.findings import Finding
from flyball.core.health.breaker import Breaker
from flyball.core.loop.gates import Weighed
from flyball.core.loop.judge import judge
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Event, LearningRecorded
from flyball.core.model.measurement import Check, GateResult, GateVerdict, Measurement, Trick
from flyball.core.model.outcomes import Measured
from flyball.core.model.state import State
from flyball.core.model.task import EffectId, Gate, Item, Source, Task
from flyball.core.roles.workers import roles
from flyball.core.workflows.tdd.prompts import brief

ITEMS = (Item("AC-1", "it multiplies"), Item("AC-2", "it divides", status="completed"))


def state(stage: str = "GREEN", **known: Any) -> State:
    return a_state(a_task(), START, stage, **{"items": ITEMS, **known})


def told(role: str = "implementer", purpose: str = "", **known: Any) -> str:
    found = state(**known)
    return brief(found, found.main, role, purpose)


def _brief(task: Task, stage: str, role: str) -> str:
    known = a_state(task, START, stage)
    return brief(known, known.main, role)


def weighed(*missing: str, **changes: Any) -> dict[str, Any]:
    """An iteration whose gate missed these, or held."""
    gate = GateVerdict(not missing, "c", missing)
    turn = RunAgent(EffectId("turn/1"), "implementer", "GREEN", "a", "", "", 1, 1)
    known = state()
    verdict = judge(known, known.main, lambda *_: Weighed(gate, False, 1.0), turn, ok(), Measurement("c", "t"))
    return {"judged": msgspec.structs.replace(verdict, **changes)}


@pytest.mark.req("C2")
def test_the_first_prompt_says_who_where_what_and_how_to_report() -> None:
    text = told()
    assert text.startswith("# GREEN: implementer for task 001-it-works, iteration 1\n")
    assert f"## Request\n{a_task().request}\n" in text
    assert "## Acceptance criteria\n- AC-1: it multiplies\n" in text
    assert "AC-2" not in text, "what is done is not asked for again"
    assert '"nonce": "{nonce}"' in text
    for absent in ("What was measured", "Open findings", "Guidance", "Learnings", "earlier attempt", "Checks of"):
        assert absent not in text


@pytest.mark.req("C2")
def test_the_source_document_stands_in_it_up_to_a_length_and_says_where_the_rest_is() -> None:
    task = msgspec.structs.replace(a_task(), document="x" * 13_000, source=Source("prp.md", "0"))
    text = _brief(task, "GREEN", "implementer")
    assert (
        "## Source document (prp.md)\n" + "x" * 12_000 + "\n[cut here; the whole document is in the repository]" in text
    )
    short = msgspec.structs.replace(task, document="short")
    assert "[cut here" not in _brief(short, "GREEN", "implementer")


@pytest.mark.req("C2", "C40")
@pytest.mark.parametrize(
    ("known", "words"),
    [
        (weighed("fails: t::a"), "The last iteration was measured. Still missing:\n- fails: t::a"),
        (weighed("fails: t::a", false_claim=True), "It was measured, and it is not:\n- fails: t::a"),
        (
            weighed(),
            "The measurements of this stage hold. If you agree that it is finished, set `exit_signal` to true.",
        ),
        (weighed("m", disagreements=("n: reported 9, measured 6",)), "otherwise than the measurement: n: reported 9"),
        (weighed("m", report_problems=("no JSON",)), "your report was not taken as you wrote it: no JSON"),
    ],
    ids=["missing", "a false claim", "held", "a wrong number", "an unreadable report"],
)
def test_what_was_measured_is_said_in_its_own_way(known: dict[str, Any], words: str) -> None:
    assert words in told(**known)


@pytest.mark.req("C21")
def test_the_early_warning_of_the_breaker_says_what_did_not_move() -> None:
    warned = Breaker("HALF_OPEN", 2, reason="no progress in 2 iterations")
    assert "Nothing moved: no progress in 2 iterations." in told(**weighed("m"), breaker=warned)
    assert "Nothing moved" not in told(**weighed("m"), breaker=Breaker())


@pytest.mark.req("C42")
def test_a_trick_is_named_with_its_path_in_the_next_prompt() -> None:
    trick = Trick("test-weakened", "tests/test_a.py", "its assertions are gone")
    text = told(**weighed("m"), last=Measurement("c", "t", tricks=(trick,)))
    assert (
        "Set aside, because it would make the gate say more than is true:\n"
        "- test-weakened: tests/test_a.py: its assertions are gone" in text
    )


@pytest.mark.req("C2")
def test_the_end_of_what_a_failing_gate_printed_is_shown_and_of_a_passing_one_nothing() -> None:
    failing = GateResult("test", "pytest -q", passed=False, output="\n" + "x" * 4_000 + "END\n")
    passing = GateResult("lint", "ruff", passed=True, output="all is well")
    text = told(last=Measurement("c", "t", (passing, failing)))
    assert "End of the output of `pytest -q`:\n```\nx" in text
    assert "xEND\n```" in text
    assert "x" * 3_000 not in text
    assert "all is well" not in text
    assert "pytest -q" in told(entry=Measurement("c", "t", (failing,))), "the stage's entry, before its first turn"


@pytest.mark.req("C2", "C51")
def test_findings_guidance_learnings_and_the_lesson_of_an_ended_context_are_there() -> None:
    learnt = tuple(
        LearningRecorded(n, "decision", f"title {n}", choice=f"choice {n}", source="answer") for n in range(1, 9)
    )
    text = told(
        findings=(Finding("major", "it leaks", file="calc.py"),),
        guidance=("be quick",),
        learnings=learnings_of(
            Event(n, START, 1, fact)
            for n, fact in enumerate(
                (*learnt, LearningRecorded(9, "anti-pattern", "QA rejected", context="it leaked")), 1
            )
        ),
        lesson=("Tried: a", "It failed: b", "Take another approach."),
    )
    assert "## Open findings\n- major: it leaks calc.py" in text
    assert "## Guidance from a person\n- be quick" in text
    assert "/8 title 8: choice 8\n- 001-it-works/9 avoid: QA rejected: it leaked" in text, "where nothing was recalled"
    assert "title 3" not in text, "the latest six"
    assert "title 4" in text
    assert "## An earlier attempt was ended; its lesson\n- Tried: a\n- It failed: b\n- Take another approach." in text
    assert "first open point only" not in text
    assert "Work on the first open point only" in told(lesson=("l",), rungs=("smaller-scope",))


@pytest.mark.req("C61")
def test_partial_edits_of_an_interrupted_turn_are_pointed_out() -> None:
    assert "its partial edits are in the tree (checkpoint interrupted-3)" in told(last_interrupted="interrupted-3")


@pytest.mark.req("C50")
def test_the_reviewer_sees_the_checks_and_nobody_else_does() -> None:
    checks = (Check("readme", "fail", True, "no word of it"), Check("naming", "pass", False))
    outcomes = {EffectId("measure/qa-1-1"): Measured(Measurement("c", "t", checks=checks))}
    text = told("qa", stage="QA", outcomes=outcomes)
    assert "## Checks of this tree\n- readme: fail: no word of it\n- naming: pass" in text
    assert "Checks of this tree" not in told(outcomes=outcomes)


@pytest.mark.req("C40", "C42")
def test_a_turn_with_a_purpose_of_its_own_is_asked_for_that_alone() -> None:
    confirming = told(purpose="confirm")
    assert "Change nothing. If you agree that the stage is finished" in confirming
    assert "smallest change" not in confirming
    consent = told("qa", "consent", consent_wanted=("tests/a.py: it was wrong",), tests_accepted="abc123")
    assert "- tests/a.py: it was wrong" in consent
    assert "the accepted versions are those of commit abc123" in consent
    assert "it was wrong" not in told("qa", consent_wanted=("tests/a.py: it was wrong",))


@pytest.mark.req("C2")
@pytest.mark.parametrize("role", [role.name for role in roles()])
@pytest.mark.parametrize("workflow", ["tdd", "backlog"])
def test_every_role_is_told_the_commands_that_check_the_work(role: str, workflow: str) -> None:
    settings = msgspec.structs.replace(
        a_task().settings, gates=(Gate("test", "tool --junit={junit} --cov={coverage}"),), lint="tool lint ."
    )
    task = msgspec.structs.replace(a_task(), settings=settings, workflow=workflow)
    text = _brief(task, "GREEN", role)
    assert (
        "- test: `tool --junit=${TMPDIR:-/tmp}/junit.xml --cov=${TMPDIR:-/tmp}/coverage.xml`\n- lint: `tool lint .`"
        in text
    )


@pytest.mark.req("C2")
def test_the_command_a_role_is_told_runs_as_it_stands(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(a_task().settings, gates=(Gate("test", "echo '<testsuites/>' > {junit}"),))
    task = msgspec.structs.replace(a_task(), settings=settings)
    found = re.search(r"^- test: `(.+)`$", _brief(task, "RED", "tester"), re.MULTILINE)
    assert found
    subprocess.run(["sh", "-c", found[1]], cwd=tmp_path, env={"PATH": os.defpath, "TMPDIR": str(tmp_path)}, check=True)
    assert (tmp_path / "junit.xml").read_text() == "<testsuites/>\n"
