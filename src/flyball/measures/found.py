"""What a measurement found out, and what several kinds of it look at."""

from collections.abc import Iterable

import msgspec

from flyball.core.model.measurement import Check, Files, GateResult, NewTest, Noticed, Quality, Remark, Trick
from flyball.core.model.naming import LOOP
from flyball.core.model.task import Commit
from flyball.measures.examination import Examination, Trial
from flyball.measures.gates.junit import Outcome
from flyball.measures.quality import documents
from flyball.measures.quality.diagrams import Complaints, shapes
from flyball.measures.sources import is_test_file, looks_like_test
from flyball.measures.tampering.protected import changed_paths


class Found(msgspec.Struct, frozen=True):
    """What a kind found out; `outcomes` where it is not simply what the trial reported."""

    trial: Trial
    outcomes: dict[str, Outcome] | None = None
    broken: str = ""
    new_tests: tuple[NewTest, ...] = ()
    old_tests_broken: tuple[str, ...] = ()
    green_runs: int = 0
    flaky: tuple[str, ...] = ()
    passing_on_rejected: tuple[str, ...] = ()
    tricks: tuple[Trick, ...] = ()
    files: Files = Files()
    quality: Quality | None = None
    checks: tuple[Check, ...] = ()
    tools: tuple[GateResult, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: str = ""
    aiding: dict[str, Commit | None] = {}
    """What accepted tests pass only with, and what is to stand in its place."""
    remarks: tuple[Remark, ...] = ()
    unparsed: tuple[str, ...] = ()
    noticed: Noticed | None = None


def changed_tests(examination: Examination, old: Commit, new: Commit) -> tuple[str, ...]:
    read = examination.workspace.read_file
    return tuple(
        path
        for path in changed_paths(examination.workspace, old, new)
        if looks_like_test(path) and is_test_file(path, read(old, path), read(new, path))
    )


def without_tests(examination: Examination, tests: Iterable[str]) -> str:
    """The candidate's tree with these tests as on the base, and what flyball itself writes there, too: nobody's work is in that."""
    request, workspace = examination.request, examination.workspace
    own = (p for p in changed_paths(workspace, request.base, request.candidate) if p.startswith(f"{LOOP}/"))
    return workspace.overlay(request.candidate, dict.fromkeys((*tests, *own), request.base))


def measure_changed_files(examination: Examination, complaints: Complaints = shapes) -> Files:
    """What the files hold that the tree in use changes; what is restored is not changed."""
    request, tree, settings = examination.request, Commit(examination.tree_in_use), examination.settings
    small = settings.code.small_change if settings.review == "auto" else None
    return documents.measure_files(examination.workspace, request.base, tree, complaints, request.kept, small)
