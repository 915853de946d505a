"""Migrations in SQL: squawk for PostgreSQL, and foreign keys without index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree
from flyball.measures.evaluators.toolbox import Toolbox

_EXCLUDED = "prefer-robust-stmts,require-lock-timeout,require-statement-timeout,require-timeout-settings,prefer-text-field,prefer-bigint-over-int,prefer-identity,prefer-timestamp-tz"
_MIGRATION = re.compile(r"(?:^|/)(?:migrations?|migrate|alembic|versions|db)/.*\.(?:sql|py|ts|js|prisma)$")
_FOREIGN = re.compile(
    r"^\s*(?:ADD\s+COLUMN\s+(?:IF\s+NOT\s+EXISTS\s+)?)?\"?(\w+)\"?\s+\w[\w() ]*\bREFERENCES\b", re.IGNORECASE
)
_KEY = re.compile(r"FOREIGN\s+KEY\s*\(\s*\"?(\w+)", re.IGNORECASE)
_INDEX = re.compile(
    r"(?:CREATE\s+(?:UNIQUE\s+)?INDEX[^;(]*\(|PRIMARY\s+KEY\s*\(|UNIQUE\s*\()\s*\"?(\w+)", re.IGNORECASE
)
_INLINE = re.compile(r"^\s*\"?(\w+)\"?\s.*\b(?:PRIMARY\s+KEY|UNIQUE)\b", re.IGNORECASE)


def migrations(tree: SourceTree) -> tuple[str, ...]:
    return tuple(path for path in tree.files if _MIGRATION.search(path) and not path.endswith("__init__.py"))


def sql_defects(toolbox: Toolbox, tree: SourceTree) -> list[TrackDefect]:
    """What squawk says of SQL migrations, and foreign keys that no index leads with."""
    files = [path for path in migrations(tree) if path.endswith(".sql") and tree.text(path)]
    if not files:
        return []
    raw = toolbox.run("squawk", ["--reporter", "json", "--exclude", _EXCLUDED, *files], cwd=tree.root)
    found = [
        tree.defect(
            f"squawk/{each['rule_name']}",
            str(each["message"]),
            each["file"].removeprefix("./"),
            int(each["line"]) + 1,
            end_line=int(each.get("line_end", each["line"])) + 1,
            action=str(each.get("help") or ""),
        )
        for each in toolbox.json("squawk", raw)
        if not _is_of_a_new_table(tree, each)
    ]
    return found + list(_unindexed(tree, files))


def _is_of_a_new_table(tree: SourceTree, said: dict[str, Any]) -> bool:
    """Whether an index is made for a table that the same migration creates, which nobody can be kept waiting for."""
    path = said["file"].removeprefix("./")
    table = re.search(r"\bON\s+(?:ONLY\s+)?\"?(\w+)", tree.line(path, int(said["line"]) + 1), re.IGNORECASE)
    made = table and re.search(
        rf"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?\"?{table[1]}\b", tree.text(path), re.IGNORECASE
    )
    return "concurrent-index" in said["rule_name"] and bool(made)


def _unindexed(tree: SourceTree, files: list[str]) -> Iterator[TrackDefect]:
    every = "\n".join(tree.text(path) for path in files)
    indexed = {name.lower() for name in _INDEX.findall(every)}
    for line in every.split("\n"):
        if (own := _INLINE.match(line)) and "REFERENCES" not in line.upper().split("PRIMARY")[0]:
            indexed.add(own[1].lower())
    for path in files:
        for number, line in enumerate(tree.text(path).split("\n"), start=1):
            key = _FOREIGN.match(line) or _KEY.search(line)
            if key and key[1].lower() not in indexed:
                text = f"the foreign key {key[1]} leads no index"
                yield tree.defect("foreign-key-index", text, path, number, action=f"create an index on {key[1]}")
