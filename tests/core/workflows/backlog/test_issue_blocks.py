"""Issue files as they occur: each file of the corpus has its issues and deviations beside it; hostile ones are made here."""

import itertools
import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from tests.core.workflows.backlog.counting import steps

from flyball.core.workflows.backlog.issues.header import MAX_HEADER, Unreadable, read_header
from flyball.core.workflows.backlog.issues.reading import gather_backlog, read_issues

CORPUS = Path(__file__).parents[3] / "documents" / "issue_files"
FILES = sorted(CORPUS.glob("*.md"))


def block(id: str = "BUG-001@a1b2c3", *lines: str, status: str = "proposed", body: str = "### Problem\np\n") -> str:
    known = [f"id: {id}", "title: t", "created: 2026-01-05", "type: bug", "priority: low", f"status: {status}", *lines]
    return "\n".join(["---", *known, "---", body, ""])


def read(text: str):
    return gather_backlog([read_issues(text, "low.md")])


@pytest.mark.req("E2")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_as_it_occurs_is_read_with_every_deviation_named(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    backlog = gather_backlog([read_issues(path.read_bytes().decode("utf-8", "surrogateescape"), "low.md")])
    assert [[i.id, i.status, i.line] for i in backlog.issues] == expected["issues"]
    assert [[d.line, d.message] for d in backlog.deviations] == expected["deviations"]
    assert [place.line for place in backlog.unread] == expected["unread"]
    assert {d.file for d in backlog.deviations} <= {"low.md"}


def test_the_corpus_is_not_empty():
    assert len(FILES) >= 15


@pytest.mark.req("E2")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blocks_do_not_overlap_and_lose_no_character(path):
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    blocks = [found.block for found in read_issues(text, path.name).blocks]
    places = [place for each in blocks for place in (each.start, each.header_start, each.header_end, each.body_start)]
    assert places == sorted(places)
    assert all(a.end <= b.start for a, b in itertools.pairwise(blocks))
    assert all(each.start < each.end <= len(text) for each in blocks)


def test_the_fields_of_an_issue_are_read():
    text = (CORPUS / "as_asked.md").read_text()
    first, second = read(text).issues
    assert first.title == "Rows with an empty last column are dropped"
    assert (first.created, first.type, first.priority, first.tags) == ("2026-01-05", "bug", "high", ("reader", "csv"))
    assert first.affected_files == ("src/reader.py", "tests/test_reader.py")
    assert first.acceptance == ("The row has as many columns as the header", "A test covers it")
    assert first.problem == "A row whose last column is empty comes back one column short."
    assert (first.order, second.order) == (0, 1)
    assert second.blocked_by == ("BUG-001@a1b2c3",)
    assert second.created == "2026-01-06T07:30:00Z"
    assert second.affected_files == ("src/writer.py",)


def test_line_ends_and_a_byte_order_mark_change_nothing_but_are_named():
    plain = read((CORPUS / "as_asked.md").read_bytes().decode())
    windows = read((CORPUS / "crlf_and_bom.md").read_bytes().decode())
    assert windows.issues == plain.issues
    assert len(windows.deviations) == 2


@pytest.mark.req("E3")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("proposed", "proposed"),
        ("in-progress", "in-progress"),
        ("In Progress", "in-progress"),
        ("blocked", "blocked"),
        ("deferred", "blocked"),
        ("resolved", "completed"),
        ("completed", "completed"),
        ("won't-fix", "won't-fix"),
        ("wontfix", "won't-fix"),
        ("whatever", "blocked"),
        ("", "proposed"),
    ],
)
def test_a_status_is_one_of_five_whatever_is_written(written, meant):
    (issue,) = read(block(status=written)).issues
    assert issue.status == meant
    assert issue.is_final == (meant in ("completed", "won't-fix"))
    assert issue.is_open == (meant in ("proposed", "in-progress"))


def test_an_issue_is_never_lost_in_the_body_of_another():
    swallowing = block(body="```yaml\nnever closed\n") + block("BUG-002@b2b2b2") + "id: BUG-003@c3c3c3\ntitle: x\n"
    assert [issue.id for issue in read(swallowing).issues] == ["BUG-001@a1b2c3", "BUG-002@b2b2b2", "BUG-003@c3c3c3"]


def test_two_headers_without_a_fence_between_are_two_issues():
    text = "---\nid: BUG-001@a1b2c3\nstatus: proposed\nid: BUG-002@b2b2b2\nstatus: blocked\n---\n"
    assert [(i.id, i.status) for i in read(text).issues] == [
        ("BUG-001@a1b2c3", "proposed"),
        ("BUG-002@b2b2b2", "blocked"),
    ]


@pytest.mark.parametrize(
    "header",
    ["a: " + "[" * 30_000, "a: " + "- " * 15_000, "a: " + "{" * 30_000, "a: " + "x" * 40_000],
    ids=["brackets", "dashes", "braces", "long"],
)
def test_a_header_made_to_break_parsers_is_one_skipped_block(header):
    text = f"---\nid: BUG-001@a1b2c3\nstatus: proposed\n{header}\n---\n" + block("BUG-002@b2b2b2")
    backlog = read(text)
    assert [issue.id for issue in backlog.issues] == ["BUG-002@b2b2b2"]
    assert len(backlog.unread) == 1


@pytest.mark.parametrize(
    "piece",
    [
        "---\n",
        "id: A-1@b\n",
        "```yaml\n---\n",
        "---\nid: A-1@b\n",
        "status: x\n---\n",
        "# x\n",
        "\n",
        "a: b\n",
        "<!--\n",
        "---\n# x\n",
        "id = A-1@b\n",
        " id: A-1@b\n",
        "---\nid: A-1@b\nid: A-2@b\n",
    ],
)
def test_reading_stays_linear_whatever_is_repeated(piece):
    def work(times: int) -> int:
        return steps(lambda: read_issues(piece * times, "low.md"))

    assert work(1200) < 8 * work(300)  # four times the text; a look ahead is bounded at 200 lines


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("---\n\r\tid:BUG-1@a status proposed`#[]{}&*'\"é\udc80\x00\ufeff"), max_size=200)
)
def test_no_text_whatever_raises(text):
    found = read_issues(text, "low.md")
    assert len(found.malformed) + len(found.issues) == len(found.blocks)


def test_an_alias_bomb_costs_nothing():
    bomb = "a: &a [x]\n" + "".join(
        f"b{n}: &b{n} [{', '.join(['*' + ('a' if n == 0 else f'b{n - 1}')] * 9)}]\n" for n in range(30)
    )
    found = read_header("id: BUG-001@a1b2c3\n" + bomb)
    assert not isinstance(found, Unreadable)
    assert found["id"] == "BUG-001@a1b2c3"


REST = "title: x\ncreated: 2026-01-05\ntype: bug\npriority: high\nstatus: proposed\n---\n\n### Problem\nx\n"


@pytest.mark.req("E2")
@pytest.mark.parametrize(
    "block",
    [
        "---\n{id: BUG-001@a1b2c3, title: x, status: proposed}\n---\n\n### Problem\nx\n",
        '---\n{\n  "id": "BUG-001@a1b2c3",\n  "status": "proposed"\n}\n---\n',
        f"---\nid = BUG-001@a1b2c3\n{REST}",
        f"---\nID=BUG-001@a1b2c3\n{REST}",
        "---\nid:BUG-001@a1b2c3\ntitle:x\nstatus:proposed\n---\n",
        "  ---\n  id: BUG-001@a1b2c3\n  title: x\n  status: proposed\n  ---\n",
        "id:BUG-001@a1b2c3\ntitle:x",
        "---\nid: BUG-001@a1b2c3\ntitle: x\nstatus: completed\nid: BUG-002@a1b2c3\n---\n",
    ],
)
@pytest.mark.parametrize("before", ["# High\n\n", f"---\nid: BUG-009@a1b2c3\n{REST}\n"], ids=["first", "after another"])
def test_what_is_meant_as_an_issue_and_is_misspelt_is_unread_and_named(before, block):
    found = gather_backlog([read_issues(before + block, "high.md")])
    assert len(found.unread) == 1
    assert found.unread[0] in found.deviations
    assert all("### Problem\nx" in issue.body for issue in found.issues)


@pytest.mark.req("E2")
def test_keys_in_quotes_are_keys():
    found = read_issues(f'---\n"id": BUG-001@a1b2c3\n{REST}'.replace("status", "'status'"), "high.md")
    assert [(issue.id, issue.status) for issue in found.issues] == [("BUG-001@a1b2c3", "proposed")]
    assert not found.malformed


@pytest.mark.parametrize(
    "body",
    [
        "id = BUG-002@a1b2c3 is the same.",
        "See BUG-002@a1b2c3, UTF-8, RFC-2119 and jane-2@example.org.",
        "- related to BUG-002@a1b2c3",
        '```json\n{"id": 7, "title": "x", "status": 200}\n```',
        "**Status:** proposed since last week",
    ],
)
def test_an_issue_that_mentions_others_is_one_issue(body):
    found = gather_backlog([read_issues(f"---\nid: BUG-001@a1b2c3\n{REST}{body}\n", "high.md")])
    assert (len(found.issues), found.unread) == (1, ())
    assert body in found.issues[0].body


@pytest.mark.req("E2")
@pytest.mark.parametrize(
    "body",
    [
        "The row was\n\n    id: BUG-002@a1b2c3\n    status: proposed\n\nand stayed.",
        "```\n{id: BUG-002@a1b2c3, title: x, status: proposed}\n```",
        "- [ ] BUG-002@a1b2c3",
    ],
)
def test_what_may_be_an_issue_in_the_body_of_another_is_unread_and_not_its_own(body):
    found = gather_backlog([read_issues(f"---\nid: BUG-001@a1b2c3\n{REST}{body}\n", "high.md")])
    assert (len(found.issues), len(found.unread)) == (1, 1)
    assert "BUG-002" not in found.issues[0].body
    known = gather_backlog(
        [read_issues(f"---\nid: BUG-001@a1b2c3\n{REST}- [ ] BUG-002@a1b2c3\n", "high.md")], (), ["BUG-002@a1b2c3"]
    )
    assert known.unread == ()


@pytest.mark.req("E2")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Old files are read as UTF-8 by RFC-2119; ask jane-2@example.org or see docs/BUG-001@a1b2c3.md.\n", []),
        ("`status`: proposed, in-progress, blocked, completed or won't-fix\n", []),
        ("```yaml\nid: PREFIX-NUM@HASH\ntitle: what is wrong\nstatus: proposed\n```\n", []),
        ("id: <PREFIX>-<NUM>@<hash>\nstatus: proposed\n", []),
        ("## Completed\n\n- BUG-001@a1b2c3: closed sockets\n- BUG-002@a1b2c3\n", []),
        ("- BUG-001@a1b2c3: sockets stay open (done 2026-01-05)\n- ~~BUG-002@a1b2c3~~\n- ✅ BUG-003\n", []),
        ("- BUG-001@a1b2c3: closed sockets leak\n- BUG-002: done callbacks are lost\n", [1, 2]),
        ("| ID | Status |\n|---|---|\n| BUG-001@a1b2c3 | completed |\n| BUG-002@a1b2c3 | open |\n", [4]),
        ("See BUG-001 and CR-PERF-003.\n", [1]),
        ("- id: BUG-001@a1b2c3\n  status: completed\n- id: BUG-002@a1b2c3\n  status: proposed\n", [3]),
    ],
)
def test_every_id_outside_the_blocks_is_accounted_for(text, lines):
    found = gather_backlog([read_issues(f"# High\n\n{text}", "high.md")])
    assert [place.line - 2 for place in found.unread] == lines


def stairs(step: int) -> str:
    """Lists in lists in mappings, as deep as a header has room for, with so many lists to a line."""
    text = ""
    while len(text) + 4 * step < MAX_HEADER - 600:
        text += " " * (text.count("a:") * (2 * step + 1)) + "- " * step + "a:\n"
    return text[:MAX_HEADER]


DEEP = ["- " * 16_000, "? " * 16_000, "[" * 32_000, "{a: " * 8_000, "- ? " * 8_000, *map(stairs, (0, 1, 4, 16, 31))]


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:4])
def test_no_nesting_ends_the_process_even_where_the_stack_is_small(text):
    found = []
    before = threading.stack_size(1024 * 1024)
    try:
        reader = threading.Thread(target=lambda: found.append(read_header(text)))
        reader.start()
    finally:
        threading.stack_size(before)
    reader.join()
    assert isinstance(found[0], dict | Unreadable)
