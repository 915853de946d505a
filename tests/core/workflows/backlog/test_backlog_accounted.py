"""DONE needs every line of the issue files accounted for: a generated backlog, with one open issue written in any odd way."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.core.workflows.backlog.odd_renderings import MALFORMED, READ, UNREAD

from flyball.core.claims.reviews import VALIDATORS, Validation
from flyball.core.workflows.backlog.evaluator import evaluate
from flyball.core.workflows.backlog.issues.edits import entry, with_block, without_block
from flyball.core.workflows.backlog.issues.reading import read_backlog
from flyball.core.workflows.backlog.issues.words import KnownIssues
from flyball.core.workflows.backlog.values import Backlog, Evaluation, Issue, Situation

GOOD = Situation(validations=tuple(Validation(kind, "pass") for kind in VALIDATORS), build="pass", gates="met")
OPEN_WAYS = {**UNREAD, **READ, **MALFORMED}
FINISHED_WAYS = {name: way for name, way in {**UNREAD, **READ}.items() if name != "in a fence nobody closes"}
FILES = ("shortlist.md", "high.md", "backlog.md", "Critical.md", "migration-review.md", "old/high_2.md")
SUBJECT = ("SEC-900@900900", "users are logged out")


def decided(files: Mapping[str, str]) -> tuple[Evaluation, Backlog]:
    backlog = read_backlog(files)
    return evaluate(msgspec.structs.replace(GOOD, backlog=backlog)), backlog


def moved_out(files: Mapping[str, str]) -> dict[str, str]:
    """The files after every finished issue went to history, as the workflow moves it."""
    now = dict(files)
    backlog = read_backlog(now)
    known = KnownIssues.of((*(issue.id for issue in backlog.issues), *backlog.finished))
    final = [issue for issue in backlog.issues if issue.is_final]
    alone = [issue for issue in final if sum(other.id == issue.id for other in backlog.issues) == 1]
    for issue in alone:
        kept = entry(now[issue.file], issue.id, file=issue.file, at="2026-01-05", known=known)
        now["history.md"] = with_block(now.get("history.md", "# History\n"), kept)
        now[issue.file] = without_block(now[issue.file], issue.id, known)
    return now


@st.composite
def backlogs(draw: st.DrawFn) -> tuple[dict[str, str], str, str, str]:
    """Files with finished issues in any way, and one place for the issue in question: its file, the way it is written."""
    file = draw(st.sampled_from(FILES))
    way = draw(st.sampled_from(sorted(OPEN_WAYS)))
    files: dict[str, str] = {}
    numbers = itertools.count(1)
    for name in {file, *draw(st.sets(st.sampled_from(FILES), max_size=2))}:
        pieces = [f"# {name}\n"]
        for _ in range(draw(st.integers(0, 3))):
            number = next(numbers)
            finished = FINISHED_WAYS[draw(st.sampled_from(sorted(FINISHED_WAYS)))]
            pieces.append(finished(f"BUG-{number:03}@{number:06x}", f"thing {number} is wrong", "completed"))
        place = draw(st.integers(1, len(pieces)))
        if name == file:
            pieces.insert(len(pieces) if way == "in a fence nobody closes" else place, "{subject}")
        between = draw(st.sampled_from(["\n", "\n\n", "\n---\n\n", "\n## Other things\n\n", "\nSome words.\n\n"]))
        files[name] = between.join(pieces)
    return files, file, way, draw(st.sampled_from(["proposed", "in-progress", "blocked", "open"]))


@pytest.mark.req("E1", "E2", "E11", "E14", "E31")
@settings(max_examples=100, deadline=None)
@given(backlogs())
def test_a_backlog_with_one_open_issue_in_any_odd_way_is_never_done_and_never_loses_it(case) -> None:
    files, file, way, status = case
    subject = OPEN_WAYS[way](*SUBJECT, status)
    now = {name: text.replace("{subject}", subject) for name, text in files.items()}
    said, backlog = decided(now)
    assert said.decision != "DONE"
    if way in UNREAD and all(issue.is_final for issue in backlog.issues):
        before = now[file][: now[file].index(subject)].count("\n")
        lines = range(before + 1, before + subject.count("\n") + 2)
        assert said.decision == "BLOCKED"
        assert any(place.file == file and place.line in lines for place in backlog.unread), backlog.unread
    later = moved_out(now)
    assert subject in later[file]
    assert decided(later)[0].decision != "DONE"


@pytest.mark.req("E11", "E14")
@settings(max_examples=100, deadline=None)
@given(backlogs())
def test_the_same_backlog_with_that_issue_completed_is_done(case) -> None:
    files, file, way, _ = case
    ways = way if way not in MALFORMED else "as asked"  # a malformed block forbids DONE whatever it says
    subject = OPEN_WAYS[ways](*SUBJECT, "completed")
    now = {name: text.replace("{subject}", subject) for name, text in files.items()}
    said, backlog = decided(now)
    assert (said.decision, backlog.unread) == ("DONE", ()), file
    assert decided(moved_out(now))[0].decision == "DONE"


NEIGHBOUR = "---\nid: BUG-001@a1b2c3\ntitle: t\ntype: bug\nstatus: {}\n---\n\n### Problem\np\n\n### Acceptance Criteria\n- [ ] a\n\n"


@pytest.mark.req("E2")
@pytest.mark.parametrize("way", UNREAD)
@pytest.mark.parametrize("first", ["", NEIGHBOUR.format("completed")], ids=["alone", "below a finished one"])
def test_an_issue_that_is_not_read_is_unverified_and_named_with_file_and_line(way: str, first: str) -> None:
    said, backlog = decided({"high.md": f"# High\n\n{first}{UNREAD[way](*SUBJECT, 'proposed')}"})
    assert (said.decision, said.trigger) == ("BLOCKED", "unverified")
    (place,) = backlog.unread
    assert f"high.md, line {place.line}: {place.message}" in said.reason
    assert place in said.deviations
    assert f"high.md, line {place.line}" in said.blocked_on[0]


DOUBTED = [
    "completed?",
    "done (not merged)",
    "completed: no",
    "completed \u2192 reopened",
    "~~completed~~ proposed",
    "done 50%",
    "fixed 2 of 5",
    "completed, but untested",
    "resolved once the key is here",
    "won't fix yet",
    "done \u274c",
]


@pytest.mark.req("E2", "E11")
@pytest.mark.parametrize("said", DOUBTED)
@pytest.mark.parametrize(
    "form",
    [
        "## BUG-001@a1b2c3 x\n\n**Status:** {}\n",
        "| ID | Status |\n|---|---|\n| BUG-001@a1b2c3 | {} |\n",
        "- BUG-001@a1b2c3: x ({})\n",
        "- id: BUG-001@a1b2c3\n  title: x\n  status: {}\n",
        "---\nid: BUG-001@a1b2c3\ntitle: x\ntype: bug\nstatus: '{}'\n---\n",
    ],
    ids=["heading", "row", "line", "item", "block"],
)
def test_a_final_word_with_a_doubt_beside_it_finishes_nothing(form: str, said: str) -> None:
    assert decided({"high.md": form.format(said.replace("'", "''") if "'{}'" in form else said)})[0].decision != "DONE"


@pytest.mark.req("E2", "E11")
@pytest.mark.parametrize(
    "text",
    [
        "## Done when\n- BUG-001@a1b2c3 x\n",
        "## Completed? no\n- BUG-001@a1b2c3 x\n",
        "## Closed beta\n- BUG-001@a1b2c3 x\n",
        "## Completed this week\n- BUG-001@a1b2c3 x\n",
        "## BUG-001@a1b2c3 x\n**Current status:** completed | **Review status:** pending\n",
        "## BUG-002@bbbbbb x\n**Status:** completed\nBUG-001@a1b2c3 is left\n",
        "- [x] BUG-002@bbbbbb x\n  - [ ] BUG-001@a1b2c3 y\n",
        "- BUG-001@a1b2c3 ~~old title~~ new title\n",
        "- BUG-001@a1b2c3: tests \u2705 docs \u274c\n",
        "- BUG-001@a1b2c3: support `[x]` in lists\n",
        "- [x] BUG-002@bbbbbb, then [ ] BUG-001@a1b2c3\n",
        "- [ ] BUG-001@a1b2c3 x\n\n- status: completed\n  id: BUG-009@aaaaaa\n",
        "- BUG-001@a1b2c3 x\n- status: completed\n  id: BUG-009@aaaaaa\n",
        "- [ ] BUG-001@a1b2c3 x\n  - Status: completed\n",
        "## BUG-001@a1b2c3 x\n**Previous status:** completed\n",
        "## BUG-001@a1b2c3 x\nBuild status: done\n",
        "# Done\n\n- status: proposed\n  id: BUG-001@a1b2c3\n- status: completed\n  id: BUG-009@aaaaaa\n",
    ],
)
def test_what_is_finished_beside_an_issue_does_not_finish_it(text: str) -> None:
    files = {"history.md": "---\nid: BUG-009@aaaaaa\ntitle: x\nstatus: completed\n---\n", "high.md": text}
    assert decided(files)[0].trigger == "unverified"


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    "text",
    [
        "## BUG-001@a1b2c3 x\n**Status:** completed (2026-01-05)\n",
        "## BUG-001@a1b2c3 x\n**Status:** Won't fix\n",
        "## Done in 1.2.0\n- BUG-001@a1b2c3 x\n",
        "## \u2705 Completed issues\n- BUG-001@a1b2c3 x\n",
        "- BUG-001@a1b2c3 x (fixed in #12)\n",
        "| ID | Status |\n|---|---|\n| BUG-001@a1b2c3 | \u2705 completed |\n",
        "UTF-8, SHA-256, CVE-2024-1234 and COVID-19; npm i pkg-2@latest, mail john-42@example.com, run test-1\n- [ ] UTF-8\n",
    ],
)
def test_what_says_plainly_that_it_is_finished_or_names_no_issue_is_accounted_for(text: str) -> None:
    assert decided({"high.md": text})[0].decision == "DONE"


def test_an_open_neighbour_is_worked_on_whatever_else_stands_there() -> None:
    said, _ = decided({"high.md": f"{NEIGHBOUR.format('proposed')}- [ ] SEC-900@900900 x\n"})
    assert (said.decision, said.next_issue) == ("CONTINUE", "BUG-001@a1b2c3")


def test_two_places_of_one_file_are_both_named() -> None:
    text = "".join(
        way(f"SEC-{number:03}@aaaaaa", f"t {number}", "proposed") + "\n" for number, way in enumerate(UNREAD.values())
    )
    _, backlog = decided({"low.md": text})
    assert len(backlog.unread) >= len(UNREAD) - 2  # a fence may hide the end of the one before


def test_an_issue_known_to_a_block_or_history_may_be_mentioned_anywhere() -> None:
    history = "---\nid: SEC-900@900900\ntitle: x\nstatus: completed\n---\n"
    index = "# Index\n\n| ID |\n|---|\n| SEC-900@900900 |\n\n- [ ] SEC-900\n"
    assert decided({"history.md": history, "low.md": index})[0].decision == "DONE"
    assert decided({"low.md": index})[0].trigger == "unverified"


def test_a_definition_that_says_open_is_not_excused_by_a_history_that_says_finished() -> None:
    history = "---\nid: SEC-900@900900\ntitle: x\nstatus: completed\n---\n"
    again = "### SEC-900@900900: again\n\n**Status:** proposed\n"
    assert decided({"history.md": history, "low.md": again})[0].trigger == "unverified"


def test_issue_values_are_what_the_files_say() -> None:
    _, backlog = decided({"low.md": READ["as asked"](*SUBJECT, "proposed")})
    assert [(issue.id, issue.status) for issue in backlog.issues] == [(SUBJECT[0], "proposed")]
    assert isinstance(backlog.issues[0], Issue)
