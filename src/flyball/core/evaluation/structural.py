"""The checks every track gets: plan, scope, tasks left, build. Documents of the business are flagged and never fail."""

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from flyball.core.evaluation.findings import SHOWN, TrackDefect
from flyball.core.evaluation.plan_page import PlanPage
from flyball.core.text.quantities import first_few

CheckStatus = Literal["pass", "fail", "n/a"]
PLAN_UPDATED = "plan.md updated"
SCOPE = "scope alignment"
NOTHING_SKIPPED = "no skipped tasks"
BUILD = "build passes"
BUSINESS = "business docs in sync"


class StructuralCheck(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    status: CheckStatus
    findings: tuple[TrackDefect, ...] = ()
    reason: str = ""


class BuildRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the project's build ended; `said` is the telling line of one that failed."""

    command: str
    passed: bool
    said: str = ""


def check_plan(plan: PlanPage | None, page: str, exists: Callable[[str], bool]) -> StructuralCheck:
    """Every task that is done names a commit that exists and says what was done."""
    if plan is None:
        return _missing(PLAN_UPDATED, page)
    if not plan.tasks:
        return StructuralCheck(PLAN_UPDATED, "fail", (_defect("plan", "plan.md has no task with a box", page, 1),))
    found: list[TrackDefect] = []
    for task in (task for task in plan.tasks if task.box == "x"):
        absent = [sha for sha in task.shas if not exists(sha)]
        if not task.shas:
            found.append(_defect("no-commit", f"{task.text!r} is done and names no commit", page, task.line))
        if absent:
            text = f"{task.text!r} names commit {absent[0]}, which does not exist"
            found.append(_defect("unknown-commit", text, page, task.line))
        if not task.summary:
            found.append(_defect("no-summary", f"{task.text!r} is done and has no summary below it", page, task.line))
    return StructuralCheck(PLAN_UPDATED, "fail" if found else "pass", tuple(found))


def check_skipped(plan: PlanPage | None, page: str) -> StructuralCheck:
    """No task is left, in progress or blocked, unless it is deferred with a reason."""
    if plan is None:
        return _missing(NOTHING_SKIPPED, page)
    words = {" ": "not done", "~": "in progress", "!": "blocked"}
    found = tuple(
        _defect("left", f"{task.text!r} is {words[task.box]} and not deferred with a reason", page, task.line)
        for task in plan.tasks
        if task.box != "x" and not task.deferred
    )
    return StructuralCheck(NOTHING_SKIPPED, "fail" if found else "pass", found)


def check_scope(plan: PlanPage | None, page: str, changed: Sequence[str], own: Collection[str]) -> StructuralCheck:
    """Files that changed are named by the plan or stand under its discovered work; `own` folders belong to the track itself."""
    if plan is None:
        return _missing(SCOPE, page)
    outside = [path for path in changed if not any(path.startswith(folder) for folder in own)]
    if not outside:
        return StructuralCheck(SCOPE, "n/a", reason="no file outside the track's own documents changed")
    unplanned = [path for path in outside if not is_planned(path, (*plan.files, *plan.discovered))]
    found = tuple(
        TrackDefect(
            "unplanned",
            f"{path} changed and the plan does not name it",
            path,
            action=f"name {path} in plan.md under ## Discovered Work, or take the change back",
            new=True,
        )
        for path in unplanned[:SHOWN]
    )
    more = len(unplanned) - SHOWN
    left_out = f"{more} more files are in no plan and not listed" if more > 0 else ""
    return StructuralCheck(SCOPE, "fail" if found else "pass", found, left_out)


def no_beginning(page: str) -> StructuralCheck:
    text = "nothing names the commit the track began with, so its scope cannot be told"
    return StructuralCheck(SCOPE, "fail", (_defect("no-beginning", text, page, 0),))


def is_planned(path: str, planned: Sequence[str]) -> bool:
    """Whether the plan names a path: whole, by its end, by a folder or by a pattern; the lock file of a named manifest too."""
    for each in planned:
        name = each.removeprefix("./")
        if path == name or path.endswith(f"/{name}") or fnmatchcase(path, name):
            return True
        if name.endswith("/") and (path.startswith(name) or f"/{name}" in path):
            return True
    manifests = {"package-lock.json": "package.json", "uv.lock": "pyproject.toml", "poetry.lock": "pyproject.toml"}
    manifests |= dict.fromkeys(("yarn.lock", "pnpm-lock.yaml"), "package.json")
    folder, _, last = path.rpartition("/")
    manifest = manifests.get(last)
    return manifest is not None and is_planned(f"{folder}/{manifest}" if folder else manifest, planned)


def check_build(build: BuildRun | None) -> StructuralCheck:
    if build is None:
        return StructuralCheck(BUILD, "n/a", reason="the project has no build command")
    if build.passed:
        return StructuralCheck(BUILD, "pass", reason=build.command)
    action = f"make `{build.command}` exit 0"
    return StructuralCheck(
        BUILD, "fail", (TrackDefect("build", f"{build.command}: {build.said}", action=action, new=True),)
    )


def check_business(documents: Sequence[str], reasons: Sequence[str]) -> StructuralCheck:
    """Whether documents of the business need to be brought up to date; that never fails."""
    if not documents and not reasons:
        return StructuralCheck(BUSINESS, "pass", reason="no change that documents of the business tell of")
    return StructuralCheck(
        BUSINESS, "pass", reason=f"needs sync ({first_few(tuple(reasons))}): {first_few(tuple(documents))}"
    )


def _missing(name: str, page: str) -> StructuralCheck:
    return StructuralCheck(name, "fail", (_defect("no-plan", f"{page} does not exist", page, 0),))


_ACTIONS = {
    "plan": "write the tasks as `- [x] Task 1: …` with commit and summary",
    "no-plan": "write the plan, with its tasks as boxes",
    "no-beginning": "write the commits of done tasks into the plan, or the commit_sha of the plan's checkpoint into metadata.json",
    "no-commit": "write the commit behind the task: <!-- abc1234 -->",
    "unknown-commit": "name the commit that holds the work",
    "no-summary": "say below the task, indented, what was done",
    "left": "finish the task, or write `deferred: reason` on it",
}


def _defect(rule: str, message: str, page: str, line: int) -> TrackDefect:
    return TrackDefect(rule, message, page, line, action=_ACTIONS[rule], new=True)
