"""An issue written in every odd way that people, models and editors have: as a text that is no block, or only almost one."""

from __future__ import annotations

from collections.abc import Callable

Rendering = Callable[[str, str, str], str]
WIDE_AT = "\uff20"
NO_BREAK_HYPHEN = "\u2011"


def _lines(id: str, title: str, status: str) -> list[str]:
    return [f"id: {id}", f"title: {title}", "type: bug", f"status: {status}"]


def _block(lines: list[str], rule: str = "---", body: str = "### Problem\nIt is wrong.\n") -> str:
    return "\n".join([rule, *lines, rule, "", body])


def _fenced(label: str, mark: str = "```") -> Rendering:
    return lambda *issue: f"{mark}{label}\n{_block(_lines(*issue))}{mark}\n"


def _box(change: Callable[[str], str]) -> Rendering:
    return lambda i, t, s: f"- [{'x' if s == 'completed' else ' '}] {change(i)} {t}\n"


def _each_line(change: Callable[[str], str]) -> Rendering:
    return lambda *issue: _block([change(line) for line in _lines(*issue)])


UNREAD: dict[str, Rendering] = {
    "in a labelled fence": _fenced("yaml"),
    "in a fence of tildes": _fenced("markdown", "~~~"),
    "in a fence without rules": lambda *i: "```yaml\n" + "\n".join(_lines(*i)) + "\n```\n",
    "in a fence as json": lambda i, t, s: f'```json\n{{"id": "{i}", "title": "{t}", "status": "{s}"}}\n```\n',
    "behind an unclosed comment": lambda *i: f"<!-- a note\n\n{_block(_lines(*i))}\n<!-- another -->\n",
    "in a comment": lambda *i: f"<!--\n{_block(_lines(*i))}-->\n",
    "with no-break spaces": _each_line(lambda line: line.replace(": ", ":\u00a0")),
    "indented by no-break spaces": _each_line(lambda line: f"\u00a0\u00a0{line}"),
    "indented by tabs": _each_line(lambda line: f"\t{line}"),
    "indented": lambda *i: "\n".join(f"  {line}" for line in _block(_lines(*i)).split("\n")) + "\n",
    "with ideographic spaces": _each_line(lambda line: line.replace(": ", ":\u3000")),
    "as an item of a list": lambda i, t, s: f"- id: {i}\n  title: {t}\n  status: {s}\n",
    "as an item of a fenced list": lambda i, t, s: f"---\n- id: {i}\n  title: {t}\n  status: {s}\n---\n",
    "as an item under a key": lambda i, t, s: f"---\nissues:\n  - id: {i}\n    title: {t}\n    status: {s}\n---\n",
    "as an item with references": lambda i, t, s: (
        f"- id: {i}\n  title: {t}\n  blocked_by: [FEAT-777@777777]\n  status: {s}\n"
    ),
    "in braces": lambda i, t, s: f"---\n{{id: {i}, title: {t}, status: {s}}}\n---\n",
    "as toml": lambda i, t, s: f'+++\nid = "{i}"\ntitle = "{t}"\nstatus = "{s}"\n+++\n',
    "with equals signs": _each_line(lambda line: line.replace(": ", " = ")),
    "without spaces": _each_line(lambda line: line.replace(": ", ":")),
    "in a quote": lambda *i: "\n".join(f"> {line}" for line in _lines(*i)) + "\n",
    "in bold fields": lambda i, t, s: f"**ID:** {i}\n**Title:** {t}\n**Status:** {s}\n",
    "in a list of fields": lambda i, t, s: f"- **ID:** {i}\n- **Title:** {t}\n- **Status:** {s}\n",
    "as a table of fields": lambda i, t, s: (
        f"| Field | Value |\n|---|---|\n| ID | {i} |\n| Title | {t} |\n| Status | {s} |\n"
    ),
    "as a heading with a bold status": lambda i, t, s: f"### {i}: {t}\n\n**Status:** {s}\n\nIt is wrong.\n",
    "as a high heading": lambda i, t, s: f"## {i}: {t}\n\n- Status: {s}\n- Priority: high\n",
    "as a heading of words": lambda _i, t, s: f"### {t.capitalize()}\n\n**Status:** {s}\n\nIt is wrong.\n",
    "as a heading with fields in one line": lambda i, t, s: f"#### [{i}] {t}\n**Priority:** high | **Status:** {s}\n",
    "as a table row": lambda i, t, s: f"| ID | Title | Status |\n|---|---|---|\n| {i} | {t} | {s} |\n",
    "as a row of another table": lambda i, t, s: (
        f"| Title | Status | Issue |\n|---|---|---|\n| {t} | `{s}` | **{i}** |\n"
    ),
    "as a row with a number": lambda _i, t, s: f"| # | Title | Status |\n|---|---|---|\n| 17 | {t} | {s} |\n",
    "as a box": lambda i, t, s: f"- [{'x' if s == 'completed' else ' '}] {i} {t}\n",
    "as a box that ends with it": lambda i, t, s: f"* [{'x' if s == 'completed' else ' '}] {t} ({i})\n",
    "as a box with a number": lambda i, t, s: (
        f"1. [{'X' if s == 'completed' else ' '}] **{i.partition('@')[0]}**: {t}\n"
    ),
    "as a summary of details": lambda i, t, s: f"<details><summary>{i} {t}</summary>\n\n**Status:** {s}\n</details>\n",
    "as a bold line": lambda i, t, s: f"**{i}: {t}**\n\nStatus: {s}\n",
    "below a rule": lambda i, t, s: f"---\n\n{i}: {t}\n\nstate: {s}\n",
    "in an unlabelled fence": _fenced(""),
    "as an entry that says so": lambda i, t, s: f"- {i}: {t} ({s})\n",
    "with another id": lambda _i, t, s: f"id: GH#42\ntitle: {t}\nstatus: {s}\n",
    "with a number for an id": lambda _i, t, s: f"- id: 42\n  title: {t}\n  status: {s}\n",
    "with an id in words": lambda _i, t, s: f"id: the login page\ntitle: {t}\nstatus: {s}\n",
    "with a wide at sign": _box(lambda id: id.replace("@", WIDE_AT)),
    "with a hyphen that does not break": _box(lambda id: id.replace("-", NO_BREAK_HYPHEN)),
    "with an escape": _box(lambda id: id.replace("-", "\\-")),
    "with entities": _box(lambda id: id.replace("-", "&#45;").replace("@", "&commat;")),
    "with emphasis inside": _box(lambda id: f"**{id[:3]}**{id[3:]}"),
    "with emphasis of underscores": _box(lambda id: f"_{id}_"),
    "in small letters": _box(str.lower),
    "in small letters without a hash": _box(lambda id: id.lower().partition("@")[0]),
    "without a hyphen": _box(lambda id: id.replace("-", "")),
    "behind a path": _box(lambda id: f"issues/{id}"),
    "with a status of underscores": lambda i, t, s: f"### {i}: {t}\n\n__Status__: {s}\n",
    "as an item with its status first": lambda i, t, s: f"- status: {s}\n  id: {i}\n  title: {t}\n",
    "as an item before others": lambda i, t, s: (
        f"- status: {s}\n  id: {i}\n  title: {t}\n- status: completed\n  id: BUG-955@955955\n  title: x\n"
    ),
    "as json with its status first": lambda i, t, s: (
        f'```json\n[\n  {{\n    "status": "{s}",\n    "id": "{i}",\n    "title": "{t}"\n  }}\n]\n```\n'
    ),
    "with other dashes": lambda i, t, s: f"| {i.replace('-', NO_BREAK_HYPHEN)} | {t} | {s} |\n",
}
"""Ways that flyball does not read, and names; finished, they say so themselves."""

READ: dict[str, Rendering] = {
    "as asked": lambda *i: _block(_lines(*i)),
    "without the first rule": lambda *i: "\n".join([*_lines(*i), "---", "", "Body.\n"]),
    "without the last rule": lambda *i: "\n".join(["---", *_lines(*i), "", "Body.\n"]),
    "in a fence nobody closes": lambda *i: f"```\n{_block(_lines(*i))}",
    "in other letters": lambda i, t, s: _block([f"ID: {i}", f"Title: {t}", f"Status: {s.upper()}"]),
    "in quotes": lambda i, t, s: _block([f"'id': '{i}'", f'"title": "{t}"', f'"status": "{s}"']),
    "with tabs": _each_line(lambda line: line.replace(": ", ":\t")),
    "with a tick": lambda i, t, s: _block(_lines(i, t, f"\u2705 {s}" if s == "completed" else s)),
    "with windows line ends": lambda *i: _block(_lines(*i)).replace("\n", "\r\n"),
}
"""Ways that are blocks."""

MALFORMED: dict[str, Rendering] = {
    "with broken yaml": lambda i, t, s: _block([f"id: {i}", f'title: "{t}', f"status: {s}"]),
    "with two ids": lambda i, t, s: _block([f"id: {i}", f"title: {t}", f"status: {s}", "id: BUG-888@888888"]),
    "with two statuses": lambda i, t, s: _block([*_lines(i, t, s), "status: completed"]),
    "with a list for a status": lambda i, t, s: _block(_lines(i, t, f"[{s}]")),
    "with an odd space before a key": lambda i, t, s: _block([*_lines(i, t, s)[:3], f"\u00a0status: {s}"]),
    "without an id": lambda _i, t, s: _block([f"title: {t}", f"status: {s}", "type: bug"]),
    "under another's tags": lambda i, t, s: _block(
        [
            "id: BUG-901@901901",
            "title: x",
            "status: completed",
            "tags:",
            f"- id: {i}",
            f"  title: {t}",
            f"  status: {s}",
        ]
    ),
}
"""Blocks that cannot be read; they forbid DONE whatever they say."""
