"""The smallest edits of issue files: what is asked for changes, and not one character more."""

import difflib
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from flyball.core.claims.values import ProposedIssue
from flyball.core.workflows.backlog.issues import edits
from flyball.core.workflows.backlog.issues.reading import finished_in, gather_backlog, read_issues
from flyball.core.workflows.backlog.issues.words import KnownIssues
from flyball.core.workflows.backlog.values import Issue

CORPUS = Path(__file__).parents[3] / "documents" / "issue_files"
FILES = sorted(CORPUS.glob("*.md"))


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def issues_in(text: str) -> list[Issue]:
    return list(read_issues(text, "x.md").issues)


def changed_lines(old: str, new: str) -> list[str]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return [line for line in difflib.ndiff(before, after) if line[:1] in "+-"]


@pytest.mark.req("E3")
@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        ("proposed", "in-progress", True),
        ("proposed", "won't-fix", True),
        ("in-progress", "completed", True),
        ("in-progress", "blocked", True),
        ("blocked", "in-progress", True),
        ("proposed", "completed", False),
        ("proposed", "blocked", False),
        ("blocked", "completed", False),
        ("in-progress", "proposed", False),
        ("completed", "proposed", False),
        ("won't-fix", "in-progress", False),
        ("completed", "completed", True),
    ],
)
def test_only_the_allowed_transitions_are_made(old, new, allowed):
    text = f"---\nid: BUG-001@a1b2c3\ntitle: t\nstatus: {old}\n---\nbody\n"
    if not allowed:
        with pytest.raises(edits.TransitionRefused, match=f"is {old} and cannot become {new}"):
            edits.with_status(text, "BUG-001@a1b2c3", new)
        return
    assert edits.with_status(text, "BUG-001@a1b2c3", new) == text.replace(f"status: {old}", f"status: {new}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_status_changes_in_one_line_and_nowhere_else(path):
    text = text_of(path)
    for issue in {each.id: each for each in issues_in(text) if each.status == "proposed"}.values():
        edited = edits.with_status(text, issue.id, "in-progress")
        found = edits.find_issue(edited, issue.id)
        assert found is not None
        assert found.status == "in-progress"
        assert len(changed_lines(text, edited)) <= 2 or "\n" not in text
        others = [(each.id, each.status, each.body) for each in issues_in(text) if each.id != issue.id]
        assert [(each.id, each.status, each.body) for each in issues_in(edited) if each.id != issue.id] == others


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("status: proposed", "status: in-progress"),
        ("status:   proposed   # for now", "status: in-progress   # for now"),
        ('Status: "proposed"', "Status: in-progress"),
        ("status: 'proposed'", "status: in-progress"),
        ("status: >\n  proposed", "status: in-progress"),
        ("status:", "status: in-progress"),
    ],
)
@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_a_status_is_changed_however_it_is_written(line, edited, eol):
    text = f"\ufeff# x\n---\nid: BUG-001@a1b2c3\n{line}\ntitle: t \n---\nb\n\n\n"
    wanted = text.replace(line, edited)
    assert edits.with_status(text.replace("\n", eol), "BUG-001@a1b2c3", "in-progress") == wanted.replace("\n", eol)


def test_a_status_that_is_missing_is_added_to_the_header():
    text = "---\r\nid: BUG-001@a1b2c3\r\ntitle: t\r\n---\r\nb"
    assert edits.with_status(text, "BUG-001@a1b2c3", "in-progress") == text.replace(
        "title: t\r\n", "title: t\r\nstatus: in-progress\r\n"
    )


def test_of_two_issues_with_one_id_the_open_one_is_edited():
    text = text_of(CORPUS / "duplicates.md")
    edited = edits.with_status(text, "BUG-001@aaaaa1", "in-progress")
    assert [each.status for each in issues_in(edited)][:2] == ["completed", "in-progress"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_block_is_removed_and_all_around_it_is_kept(path):
    text = text_of(path)
    for issue in {each.id: each for each in issues_in(text)}.values():
        rest = edits.without_block(text, issue.id, KnownIssues())
        before = [(each.id, each.title, each.body) for each in issues_in(text)]
        before.remove(next(e for e in before if e[0] == issue.id))
        after = [(each.id, each.title, each.body) for each in issues_in(rest)]
        assert len(after) == len(before)
        assert {each[0] for each in before} == {each[0] for each in after}
        assert len(read_issues(rest, "x").malformed) == len(read_issues(text, "x").malformed)


def test_headings_and_words_between_issues_stay_when_one_is_removed():
    text = text_of(CORPUS / "stray_headings.md")
    rest = edits.without_block(text, "PERF-001@aaaaa1", KnownIssues())
    assert rest.startswith("# Low priority\n\n## Performance\n\n## Documentation issues\n")
    assert "Some words about documentation." in rest
    assert edits.without_block(rest, "DOCS-001@aaaaa2", KnownIssues()).endswith("# Appendix\n\nNothing more.\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_block_is_added_and_all_before_it_is_kept(path):
    text = text_of(path)
    edited = edits.with_block(text, "---\nid: NEW-001@a1b2c3\ntitle: n\nstatus: proposed\n---\n\nb\n")
    assert edited.startswith(text.rstrip())
    assert [each.id for each in issues_in(edited)] == [*(each.id for each in issues_in(text)), "NEW-001@a1b2c3"]
    assert [(e.id, e.body) for e in issues_in(edited)][:-1] == [(e.id, e.body) for e in issues_in(text)]
    assert ("\r\n" in text) == ("\r\n" in edited)


def test_a_block_after_a_lone_fence_is_not_taken_for_its_body():
    edited = edits.with_block("# x\n\nwords\n\n---\n", "---\nid: NEW-001@a1b2c3\ntitle: n\nstatus: proposed\n---\n")
    assert [each.id for each in issues_in(edited)] == ["NEW-001@a1b2c3"]


def test_what_is_not_there_is_said():
    with pytest.raises(edits.IssueMissing, match="BUG-009@a1b2c3"):
        edits.without_block("# nothing\n", "BUG-009@a1b2c3", KnownIssues())
    assert edits.find_issue("# nothing\n", "BUG-009@a1b2c3") is None


def test_a_field_is_set_and_removed_again():
    text = text_of(CORPUS / "as_asked.md")
    assert (
        edits.without_field(
            edits.with_field(text, "BUG-001@a1b2c3", "completed", "2026-01-07"), "BUG-001@a1b2c3", "completed"
        )
        == text
    )


@pytest.mark.req("E31")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_entry_of_history_reads_as_the_issue_did_and_can_be_reopened(path):
    text = text_of(path)
    for issue in {each.id: each for each in issues_in(text)}.values():
        kept = edits.entry(text, issue.id, file=path.name, at="2026-01-07T10:00:00Z", known=KnownIssues())
        (read,) = issues_in(kept)
        assert (read.id, read.title, read.status) == (issue.id, issue.title, "completed")
        assert "moved_from" in kept
        (again,) = issues_in(edits.reopen(kept, issue.id))
        assert (again.id, again.title, again.status) == (issue.id, issue.title, "proposed")
        assert again.acceptance == read.acceptance
        assert "moved_from" not in edits.reopen(kept, issue.id)


@pytest.mark.req("E31")
def test_history_knows_what_it_holds_and_what_was_reverted():
    text = text_of(CORPUS / "as_asked.md")
    kept = edits.entry(text, "BUG-001@a1b2c3", file="high.md", at="2026-01-07T10:00:00Z", known=KnownIssues())
    later = edits.entry(text, "BUG-001@a1b2c3", file="high.md", at="2026-01-08T10:00:00Z", known=KnownIssues())
    history = edits.with_block("# History\n", kept)
    assert edits.holds(history, "BUG-001@a1b2c3", later)
    assert not edits.holds(
        history, "FEAT-002@0f9e8d", edits.entry(text, "FEAT-002@0f9e8d", file="high.md", at="x", known=KnownIssues())
    )
    assert not edits.holds(history, "BUG-001@a1b2c3", later.replace("one column short", "two columns short"))
    assert finished_in([history]) == ("BUG-001@a1b2c3",)
    row = edits.reverted_row(Issue("BUG-001@a1b2c3"), at="2026-01-09", reason="it's\n---\nid: X-001@a1b2c3")
    history = edits.with_block(history, row)
    assert edits.is_reverted(edits.records(history, "BUG-001@a1b2c3")[-1])
    assert finished_in([history]) == ()
    assert [each.id for each in issues_in(history)] == ["BUG-001@a1b2c3"] * 2
    assert not edits.holds(history, "BUG-001@a1b2c3", later)
    assert finished_in([history, edits.with_block("", later)]) == ("BUG-001@a1b2c3",)


@pytest.mark.req("E4")
def test_rows_and_headings_of_histories_that_others_keep_count_as_finished():
    history = (
        "# History\n\n## 2026-01-05: Reading twice (PERF-002)\n\n| Issue | Status |\n|---|---|\n"
        "| BUG-001@fe313e | done |\n| `MEM-002@9c4b3d` | done |\n\nSee SEC-003@a1b2c3 (SEC-003).\n"
    )
    assert finished_in([history]) == ("PERF-002", "BUG-001@fe313e", "MEM-002@9c4b3d")
    row = edits.reverted_row(Issue("BUG-001@fe313e"), at="2026-01-09", reason="x")
    assert finished_in([edits.with_block(history, row)]) == ("PERF-002", "MEM-002@9c4b3d")


def test_a_heading_that_names_its_issue_goes_with_it():
    text = text_of(CORPUS / "headings_with_ids.md")
    rest = edits.without_block(text, "FEAT-001@aaaaa1", KnownIssues())
    assert "FEAT-001" not in rest
    assert rest.startswith("# Medium\n\n---\n\n### FEAT-002@aaaaa2: So it is here\n")
    assert edits.without_block(rest, "FEAT-002@aaaaa2", KnownIssues()) == "# Medium\n\n---\n\n"


@pytest.mark.req("E30")
def test_ids_count_on_per_prefix_over_all_that_were_ever_used():
    taken = ["BUG-001@a", "BUG-041@b", "SEC-007@c", "CR-BUG-99@d", "nonsense"]
    assert edits.new_id("bug", taken, "0a1b2c") == "BUG-042@0a1b2c"
    assert edits.new_id("Security", taken, "0a1b2c") == "SEC-008@0a1b2c"
    assert edits.new_id("docs", taken, "0a1b2c") == "DOCS-001@0a1b2c"
    assert edits.new_id("whatever", [], "0a1b2c") == "BUG-001@0a1b2c"


@pytest.mark.req("E30")
@pytest.mark.parametrize(
    ("priority", "file"),
    [("Critical", "critical.md"), ("low", "low.md"), ("shortlist", "backlog.md"), ("", "backlog.md")],
)
def test_a_new_issue_goes_to_the_file_of_its_priority_and_never_to_the_shortlist(priority, file):
    assert edits.file_for(priority) == file


@pytest.mark.req("E30")
def test_a_duplicate_is_known_by_title_or_by_files_and_problem():
    known = [Issue("BUG-001@a1b2c3", title="Rows are  Lost", problem="They vanish.", affected_files=("a.py", "b.py"))]
    assert edits.duplicate_of(ProposedIssue("rows are lost"), (), known) is known[0]
    assert edits.duplicate_of(ProposedIssue("x", problem="they  vanish."), ("b.py", "a.py"), known) is known[0]
    assert edits.duplicate_of(ProposedIssue("x", problem="they vanish."), ("b.py",), known) is None
    assert edits.duplicate_of(ProposedIssue("y", problem="They vanish."), (), known) is None


@pytest.mark.req("E30")
def test_a_new_issue_is_written_as_asked_without_a_deviation():
    proposed = ProposedIssue("Rows: are 'lost'", "bug", "high", "They vanish.", ("They stay", "A test covers it"))
    issue = edits.as_issue(proposed, "BUG-001@a1b2c3", "2026-01-05", ("src/a.py",))
    text = edits.with_block(edits.header_of("high.md"), edits.render_issue(issue, "code-review"))
    backlog = gather_backlog([read_issues(text, "high.md")])
    assert backlog.deviations == ()
    (read,) = backlog.issues
    assert (read.title, read.problem, read.acceptance) == (issue.title, issue.problem, issue.acceptance)
    assert (read.status, read.affected_files, read.priority) == ("proposed", ("src/a.py",), "high")


HOSTILE = st.text(alphabet=st.sampled_from("---\nid: BUG-9@x#` status:completed'\"[{&*\\\r\té\u2028"), max_size=80)


@settings(max_examples=100, deadline=None)
@given(HOSTILE, HOSTILE, st.lists(HOSTILE, max_size=2))
def test_no_proposal_can_break_out_of_its_block(title, problem, acceptance):
    proposed = ProposedIssue(title, problem, "high", problem, tuple(acceptance))
    issue = edits.as_issue(proposed, "BUG-001@a1b2c3", "2026-01-05")
    first = "---\nid: BUG-000@a1b2c3\ntitle: t\nstatus: proposed\n---\n\nb\n"
    found = read_issues(edits.with_block(first, edits.render_issue(issue, title)), "high.md")
    assert [each.id for each in found.issues] == ["BUG-000@a1b2c3", "BUG-001@a1b2c3"]
    assert not found.malformed
    assert found.issues[1].status == "proposed"


def test_a_status_whose_key_is_in_quotes_is_changed_where_it_stands():
    text = '---\n"id": BUG-001@a1b2c3\n"title": x\n"status": proposed\n---\n\n### Problem\nx\n'
    assert edits.with_status(text, "BUG-001@a1b2c3", "in-progress") == text.replace(" proposed", " in-progress")


@pytest.mark.parametrize(("written", "id"), [(r'"\u00e9-1@x"', "é-1@x"), (r'"a\tb"', "a b"), ("'a''b'", "a'b")])
def test_an_issue_is_found_by_its_id_however_that_is_written(written, id):
    text = f"---\nid: {written}\ntitle: x\nstatus: proposed\n---\n"
    assert [issue.id for issue in read_issues(text, "low.md").issues] == [id]
    assert edits.with_status(text, id, "in-progress") == text.replace("proposed", "in-progress")
