"""The shared rooms know workflows by their data alone: no name of a workflow, a stage or a role stands in their strings."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from flyball.core.workflows.registry import WORKFLOWS

SOURCES = Path(__file__).parents[2] / "src" / "flyball"
OWN = ("core/workflows/", "testing/")
"""A workflow's folder is where its names belong; simulators and builders play workflows."""

NAMES = {
    *WORKFLOWS,
    *(stage for each in WORKFLOWS.values() for stage in each.stages),
    *(role for each in WORKFLOWS.values() for role in each.roles),
}
STAGES = {stage for each in WORKFLOWS.values() for stage in each.stages}
KERNEL = ("core/decide.py", "core/vocabulary.py", "core/fold/", "core/loop/", "core/model/", "engine/")
"""Here a string that is a stage's name in lower case names the stage too; elsewhere `red` is a colour and `report` a command."""

TELLING = {name for name in NAMES if name.isupper() or "-" in name or name == "tdd"}
"""Names that are no words of English: they may not stand in a sentence either."""

ALLOWED = {
    ("core/claims/status_block.py", "QA"): "the phase of the status block's format whose blocks hold a review",
    ("core/claims/status_block.py", "REFACTOR"): "the phase of the status block's format whose blocks list patterns",
    ("core/claims/values.py", "REVIEW"): "a verdict that agents write: APPROVED WITH REVIEW",
    ("core/advice/batch.py", "plan"): "a kind of loop: items, not a gate",
    ("core/health/observation.py", "plan"): "a kind of loop: items, not a gate",
    ("core/claims/report_object.py", "plan"): "a field of the report",
    ("core/loop/forms.py", "plan"): "a field of the report",
    ("core/text/criteria.py", "plan"): "a heading that says what kind of document it is",
    ("documents/plan_source.py", "plan"): "a heading that says what kind of file it is",
    ("core/evaluation/checkpoints.py", "PLAN"): "a key of a track's metadata",
    ("core/evaluation/structural.py", "plan"): "a document of a track",
    ("core/claims/", "COMPLETE"): "a status that agents write",
    ("projections/", "COMPLETE"): "a status in formats of others",
    ("web/reading.py", "COMPLETE"): "a status in formats of others",
    ("core/evaluation/", "COMPLETE"): "a step in a track's metadata",
    ("core/evaluation/", "FIX"): "a step in a track's metadata",
    ("core/evaluation/", "BUSINESS_SYNC"): "a step in a track's metadata",
    ("core/evaluation/", "EVALUATE_EXECUTION"): "a step in a track's metadata",
    ("documents/track_documents.py", "PLAN"): "a step in a track's metadata",
    ("documents/track_documents.py", "COMPLETE"): "a step in a track's metadata",
    ("documents/track_documents.py", "EVALUATE_EXECUTION"): "a step in a track's metadata",
    ("wiring/tools/judges.py", "EVALUATE_EXECUTION"): "a step in a track's metadata",
    ("wiring/tools/judges.py", "executor"): "who wrote what a judge looks at, where no task says it",
    ("core/loop/workflow.py", "track"): "a kind of source",
    ("cli/commands/demo.py", "track"): "a kind of source",
    ("cli/commands/dispatch.py", "track"): "an argument's name, and a key of the answer",
    ("projections/files/evaluation_report.py", "track"): "a key of the report",
    ("workspace/publish.py", "CHECKPOINT"): "a word to put a checkpoint's name in",
    ("core/model/events.py", "planner"): "the stored word for items that were planned",
    ("core/model/events.py", "tester"): "the stored word for items that were named with their tests",
    ("core/model/measurement.py", "qa"): "a kind of measurement",
    ("measures/kinds.py", "qa"): "a kind of measurement",
    ("config/file.py", "qa"): "a table of flyball.toml",
    ("config/schema.py", "qa"): "a table of flyball.toml",
    ("core/roles/loop_roles.py", "DOCUMENT"): "a word to put a file's name in",
    ("wiring/run/rendering.py", "plan"): "the purpose of a turn in which the plan's page is the agent's",
    ("journal/", "SELECT"): "SQL",
    ("core/fold/batches.py", "red"): "how an integration ended",
    ("core/loop/batches/integrating.py", "red"): "how an integration ended",
    ("core/model/batch_events.py", "red"): "how an integration ended",
    ("core/fold/", "review"): "the stored word for what a review said or sent back",
    ("core/loop/", "review"): "the stored word for what a review said or sent back",
    ("core/model/", "review"): "the stored word for what a review said or sent back",
    ("core/fold/people.py", "document"): "the stored word for items of a document",
    ("core/model/events.py", "document"): "the stored word for items of a document",
    ("core/loop/workflow.py", "document"): "a kind of source",
    ("core/loop/batches/choosing.py", "scaffold"): "a kind of items",
    ("core/loop/shipping.py", "report"): "the label of the checkpoint that holds the report",
    ("core/model/events.py", "report"): "what a learning was read from",
    ("core/model/task.py", "report"): "how an agent gives its signal",
    ("core/model/effects.py", "integrate"): "the stored name of an effect",
    ("core/model/measurement.py", "red"): "a kind of measurement",
    ("core/model/measurement.py", "green"): "a kind of measurement",
    ("core/model/measurement.py", "refactor"): "a kind of measurement",
    ("core/model/measurement.py", "document"): "a kind of measurement",
}


def literals(source: str) -> Iterator[str]:
    """Every string of a module but its docstrings, which the interpreter throws away."""
    tree = ast.parse(source)
    thrown = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in thrown:
            yield node.value


def named(text: str, *, kernel: bool = False) -> set[str]:
    """The names in a string: it is one, or it has one that no sentence has by chance."""
    words = set(re.findall(r"[A-Za-z][A-Za-z0-9_-]*", text))
    lowered = {text} if kernel and text.upper() in STAGES else set()
    return {text} & NAMES | words & TELLING | lowered


WORTH_READING = re.compile(
    rf"""["'](?:{"|".join(sorted({*NAMES, *(stage.lower() for stage in STAGES)}))})["']|(?<![A-Za-z0-9_-])(?:{"|".join(sorted(TELLING))})(?![A-Za-z0-9_-])"""
)
"""To parse all sources takes seconds, and few of them hold such a word."""


@cache
def found() -> list[tuple[str, str]]:
    files = ((path.relative_to(SOURCES).as_posix(), path) for path in sorted(SOURCES.rglob("*.py")))
    shared = ((name, path.read_text()) for name, path in files if not name.startswith(OWN))
    texts = ((name, text) for name, source in shared if WORTH_READING.search(source) for text in literals(source))
    return [(name, word) for name, text in texts for word in sorted(named(text, kernel=name.startswith(KERNEL)))]


def allowed(name: str, word: str) -> bool:
    return any(name.startswith(place) and word == known for place, known in ALLOWED)


def test_no_name_of_a_workflow_stage_or_role_stands_in_the_shared_rooms() -> None:
    assert [each for each in found() if not allowed(*each)] == []


def test_every_exception_is_still_needed() -> None:
    names = found()
    unused = [each for each in ALLOWED if not any(n.startswith(each[0]) and w == each[1] for n, w in names)]
    assert unused == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('if task.workflow == "backlog": ...', {"backlog"}),
        ('_LAST = {"SHIP"}', {"SHIP"}),
        ('say(f"{x}: no stage RED here")', {"RED"}),
        ('"""A docstring of GREEN."""\nsay("a backlog, a reviewer")', set()),
    ],
)
def test_a_name_is_seen_where_it_stands(source: str, names: set[str]) -> None:
    assert {word for text in literals(source) for word in named(text)} == names


def test_in_the_kernel_a_stage_is_seen_in_lower_case_too_where_it_is_the_whole_string() -> None:
    assert named("red", kernel=True) == {"red"}
    assert named("red") == set()
    assert named("the gates are red, the review is not", kernel=True) == set()
