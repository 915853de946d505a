"""Issues of beads and GitHub, with programs in the place of bd and gh that answer as those do."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from flyball.core.model.outcomes import Stale
from flyball.core.model.task import EffectId, Source
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, ReadPlan
from flyball.core.workflows.plan.sources.marking import finishing, undoing
from flyball.core.workflows.plan.sources.values import ImportedPlan
from flyball.documents.errors import DocumentError
from flyball.wiring.run.trackers import PlanSources, tracker_source

pytestmark = pytest.mark.req("O23")

BD = """#!/bin/sh
echo "$@" >> calls
case "$1" in
  version) echo "bd version 0.49.1 (abc1234)";;
  ready) cat ready.json;;
  show) printf '[{"id": "%s", "status": "%s"}]' "$2" "$(cat "status-$2")";;
  close) echo closed > "status-$2"; echo '[]';;
  update) echo "$4" > "status-$2"; echo '[]';;
  *) exit 1;;
esac
"""
GH = """#!/bin/sh
echo "$@" >> calls
case "$1 $2" in
  "issue list")
    case "$*" in *blockedBy*) [ -e new ] || { echo 'Unknown JSON field: "blockedBy"' >&2; exit 1; };; esac
    [ -e out ] && { echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4; }
    cat issues.json;;
  "issue view") printf '{"state": "%s"}' "$(cat "state-$3")";;
  "issue close") echo CLOSED > "state-$3";;
  "issue reopen") echo OPEN > "state-$3";;
  *) exit 1;;
esac
"""
BEADS: list[dict[str, Any]] = [
    {"id": "bd-a1", "title": "One", "status": "open", "priority": 1},
    {"id": "bd-b2", "title": "Two", "status": "open", "acceptance_criteria": "it is fast"},
]
ISSUES: list[dict[str, Any]] = [
    {"number": 7, "title": "One", "body": "in src/a.py", "state": "OPEN"},
    {"number": 8, "title": "Two", "body": "Blocked by #7", "state": "OPEN"},
]


class Tracker:
    """A repository with a stand-in for a tracker's program."""

    def __init__(self, root: Path, name: str, script: str, source: Source) -> None:
        self.root = root
        (root / "bin").mkdir()
        program = root / "bin" / name
        program.write_text(script)
        program.chmod(0o755)
        self.source = source
        self.sources = PlanSources(root, {"PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"})

    def plan(self) -> ImportedPlan:
        plan = self.sources.read(ReadPlan(EffectId("read/1"), self.source)).plan
        assert plan is not None
        return plan

    def finish(self, *ids: str) -> MarkEntries:
        return MarkEntries(EffectId("mark/1"), self.source, "", finishing(self.plan(), ids))

    def calls(self) -> list[str]:
        return (self.root / "calls").read_text().splitlines()


@pytest.fixture
def beads(tmp_path: Path) -> Tracker:
    (tmp_path / "ready.json").write_text(json.dumps(BEADS))
    for bead in BEADS:
        (tmp_path / f"status-{bead['id']}").write_text("open")
    return Tracker(tmp_path, "bd", BD, Source("beads", "", "beads"))


@pytest.fixture
def github(tmp_path: Path) -> Tracker:
    (tmp_path / "issues.json").write_text(json.dumps(ISSUES))
    for issue in ISSUES:
        (tmp_path / f"state-{issue['number']}").write_text("OPEN")
    return Tracker(tmp_path, "gh", GH, Source("github", "", "github"))


def test_beads_that_are_ready_are_the_plan_and_all_of_them_are_asked_for(beads: Tracker) -> None:
    assert [item.id for item in beads.plan().items] == ["bd-a1", "bd-b2"]
    assert beads.calls()[-1] == "ready --json --limit 0"
    seen = beads.sources.read(ReadPlan(EffectId("read/1"), beads.source)).sha256
    assert beads.sources.read(ReadPlan(EffectId("read/2"), beads.source, seen)).plan is None


def test_a_bead_is_closed_once_and_opened_again_only_if_it_still_is_closed(beads: Tracker) -> None:
    request = beads.finish("bd-a1")
    for _ in range(2):
        assert isinstance(beads.sources.mark(request), EntriesMarked)
    assert len([call for call in beads.calls() if call.startswith("close bd-a1")]) == 1
    (beads.root / "ready.json").write_text(json.dumps([{**BEADS[0], "status": "closed", "closed_at": "2026-01-01"}]))
    back = undoing(beads.plan(), {change.key: change for change in request.changes}, ["bd-a1"])
    again = MarkEntries(EffectId("mark/2"), beads.source, "", back)
    assert isinstance(beads.sources.mark(again), EntriesMarked)
    assert (beads.root / "status-bd-a1").read_text().strip() == "open"
    (beads.root / "status-bd-a1").write_text("in_progress")
    assert isinstance(beads.sources.mark(again), Stale)


def test_another_program_of_the_name_bd_is_refused_before_it_is_asked_for_anything(beads: Tracker) -> None:
    (beads.root / "bin" / "bd").write_text('#!/bin/sh\necho "$@" >> calls\necho "bd: back to a folder"\n')
    with pytest.raises(DocumentError, match="bd is not beads"):
        beads.plan()
    assert beads.calls() == ["version"]


def test_github_is_asked_for_newer_fields_first_and_for_the_old_ones_then(github: Tracker) -> None:
    assert {item.id: item.depends_on for item in github.plan().items} == {"#7": (), "#8": ("#7",)}
    assert ["blockedBy" in call for call in github.calls()] == [True, False]
    (github.root / "new").touch()
    github.plan()
    assert len(github.calls()) == 3


def test_github_issues_of_one_label_are_asked_for_by_it(github: Tracker) -> None:
    source = tracker_source("github:good first issue")
    assert source is not None
    github.source = source
    github.plan()
    assert "--label good first issue" in github.calls()[0]


def test_an_issue_is_closed_with_a_comment_and_not_twice(github: Tracker) -> None:
    request = github.finish("#7")
    for _ in range(2):
        assert isinstance(github.sources.mark(request), EntriesMarked)
    assert len([call for call in github.calls() if call.startswith("issue close 7 --comment")]) == 1


def test_without_a_login_gh_says_how_to_log_in(github: Tracker) -> None:
    (github.root / "out").touch()
    with pytest.raises(DocumentError, match="Log in with: gh auth login"):
        github.plan()


def test_a_program_that_is_not_installed_is_named(tmp_path: Path) -> None:
    sources = PlanSources(tmp_path, {"PATH": str(tmp_path)})
    with pytest.raises(DocumentError, match="The program bd is not installed"):
        sources.read(ReadPlan(EffectId("read/1"), Source("beads", "", "beads")))


def test_only_the_names_of_trackers_stand_for_one() -> None:
    assert tracker_source("tasks.md") is None
    assert tracker_source("beads") == Source("beads", "", "beads")
