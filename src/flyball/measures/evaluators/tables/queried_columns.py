"""Columns that plain SQL in the code asks for, and no migration makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, TrackTrees, is_product
from flyball.measures.evaluators.tables.mapped_tables import is_about, migration_steps, names, subject_of

_LIST = r"(?P<columns>[a-z_]\w*(?:\s*,\s*[a-z_]\w*)*)"
_TABLE = r"[\"`]?(?P<table>[a-z_]\w*)[\"`]?"
_QUERIES = (
    re.compile(rf"\bselect\s+(?:distinct\s+)?{_LIST}\s+from\s+{_TABLE}(?P<rest>[^\"'`;]*)"),
    re.compile(rf"\binsert\s+into\s+{_TABLE}\s*\(\s*{_LIST}\s*\)(?P<rest>)"),
    re.compile(rf"\bupdate\s+{_TABLE}\s+set\s+(?P<columns>[a-z_]\w*)(?P<rest>)\s*="),
)
_SEVERAL = re.compile(r"\bjoin\b|^\s*(?:(?:as\s+)?\w+\s*)?,|\bunion\b|^\s*[.(]")
"""What follows a table that is not asked alone, or is none."""
_MADE = re.compile(r"create(?:\s+\w+)*?\s+table|create_table")
_ELSEWHERE = re.compile(r"\brename_table\b|\brename\s+to\b|\bas\s+select\b|\blike\b|\binherits\b|\bpartition\s+of\b")
_NO_COLUMN = frozenset(
    "null true false current_date current_time current_timestamp ctid xmin oid tableoid rowid all".split()
)


def unmade_columns(trees: TrackTrees, migrations: Sequence[str]) -> Iterator[TrackDefect]:
    """Queries of one table, which the migrations make, for a column that none of them names."""
    written = [text.lower() for path in migrations for text in migration_steps(path, trees.head.text(path))]
    for path in trees.changed(*PYTHON, *SCRIPTS) if written else ():
        if path not in migrations and is_product(path):
            for table, column, line in _asked(trees.head.text(path).lower()):
                own = [text for text in written if names(text, table) and is_about(text, table)]
                if _says_all(own, table) and not any(names(text, column) for text in own):
                    told = f"no migration gives the table {table} the column {column}"
                    yield trees.head.defect("no-migration", told, path, line, action="write a migration")


def _says_all(own: Sequence[str], table: str) -> bool:
    """Whether a table's migrations make it and write out its columns, and it was never called otherwise."""
    made = any(_MADE.search(text) and subject_of(text) == table for text in own)
    return made and not any(_ELSEWHERE.search(text) for text in own)


def _asked(text: str) -> Iterator[tuple[str, str, int]]:
    """Tables with their columns, each with its line, as plain queries name them."""
    for query in (found for one in _QUERIES for found in one.finditer(text)):
        if not _SEVERAL.search(query["rest"]):
            for column in re.finditer(r"\w+", query["columns"]):
                if column[0].lower() not in _NO_COLUMN:
                    at = query.start("columns") + column.start()
                    yield query["table"], column[0], text.count("\n", 0, at) + 1
