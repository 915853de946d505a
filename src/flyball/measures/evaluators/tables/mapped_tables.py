"""Tables as models of SQLAlchemy map them, and those which no migration makes; read and not run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SourceTree, TrackTrees, is_product
from flyball.measures.sources import parse

_MAKES = re.compile(r"create|rename", re.IGNORECASE)
_RENAMES = re.compile(r"rename_table|RENAME\s+TO\b", re.IGNORECASE)
_SUBJECTS = (
    re.compile(r"\b(?:CREATE|ALTER)\s+(?:\w+\s+)??TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?(?:[\w\"`]+\.)?[\"`]?(\w+)", re.IGNORECASE),
    re.compile(r"^(?:with\s+)?op\.\w+\(\s*[\"'](\w+)[\"']"),
)  # fmt: skip
"""The table that a statement is about, which may name others."""
_COLUMN = re.compile(r"\b(?:Mapped\[|mapped_column\(|Column\()")
_CALLS = frozenset({"mapped_column", "Column"})


class MappedTable(msgspec.Struct, frozen=True):
    """A class that maps a table; `name` is empty where the class does not say which."""

    name: str
    line: int
    end_line: int
    columns: tuple[tuple[str, int], ...]


def unmigrated(trees: TrackTrees, migrations: Sequence[str]) -> list[TrackDefect]:
    """Tables and columns of models that the track added and no migration makes."""
    written = [text for path in migrations for text in migration_steps(path, trees.head.text(path))]
    if not written or any("create_all(" in text for text in written):
        return []
    models = [path for path in trees.base.of(*PYTHON) if path not in migrations]
    before = [table for path in models for table in mapped_tables(trees.base.text(path))]
    known = {(table.name, column) for table in before for column, _ in table.columns}
    found: list[TrackDefect] = []
    for path in trees.changed(*PYTHON):
        if path not in migrations and is_product(path):
            for table in mapped_tables(trees.head.text(path)):
                is_new = table.name not in {each.name for each in before}
                found += _of_table(trees.head, path, table, written, known, is_new=is_new)
    return found


def _of_table(
    tree: SourceTree,
    path: str,
    table: MappedTable,
    written: Sequence[str],
    known: set[tuple[str, str]],
    *,
    is_new: bool,
) -> Iterator[TrackDefect]:
    name, action = table.name, "write a migration"
    if name and is_new and not any(_MAKES.search(text) and names(text, name) for text in written):
        text = f"the table {name} is new and no migration makes it"
        yield tree.defect("no-migration", text, path, table.line, end_line=table.end_line, action=action)
        return
    own = [text for text in written if names(text, name)]
    if name and any(_RENAMES.search(text) for text in own):
        return
    for column, line in table.columns:
        if (name, column) not in known and not any(is_about(text, name) and names(text, column) for text in own):
            text = f"the column {column} is new and no migration adds it"
            yield tree.defect("no-migration", text, path, line, action=action)


def is_about(text: str, table: str) -> bool:
    """Whether a table may be what a statement is about."""
    return not table or subject_of(text) in ("", table)


def subject_of(text: str) -> str:
    """The table that a statement makes or changes; empty where it does not say."""
    return next((found[1] for one in _SUBJECTS if (found := one.search(text))), "")


def names(text: str, word: str) -> bool:
    """Whether a statement has a word of its own; no word is in every statement."""
    return not word or re.search(rf"(?<![\w$]){re.escape(word)}(?![\w$])", text) is not None


def migration_steps(path: str, text: str) -> list[str]:
    """The parts of a migration that stand for themselves: SQL statements, statements of Alembic's upgrade, else the file."""
    if path.endswith(".sql"):
        return re.sub(r"--[^\n]*", "", text).split(";")
    module = parse(text.encode()) if path.endswith(".py") else None
    upgrades = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"] if module else []  # fmt: skip
    parts = [ast.get_source_segment(text, node) or "" for each in upgrades for node in each.body]
    return parts or [text]


def mapped_tables(text: str) -> list[MappedTable]:
    """The classes with columns in a source."""
    module = parse(text.encode()) if _COLUMN.search(text) else None
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)] if module else []
    return [table for table in map(_table, classes) if table.columns]


def _table(node: ast.ClassDef) -> MappedTable:
    name, last, columns = "", node.lineno, []
    for each in node.body:
        target = each.target if isinstance(each, ast.AnnAssign) else each.targets[0] if isinstance(each, ast.Assign) else None  # fmt: skip
        if not isinstance(each, ast.AnnAssign | ast.Assign) or not isinstance(target, ast.Name):
            continue
        if target.id == "__tablename__" and isinstance(each.value, ast.Constant):
            name, last = str(each.value.value), each.lineno
        elif column := _column(each, target.id):
            columns.append((column, each.lineno))
    return MappedTable(name, node.lineno, last, tuple(columns))


def _column(node: ast.AnnAssign | ast.Assign, name: str) -> str:
    """The name a column has in the database; empty for what is no column, such as a relationship."""
    if isinstance(node.value, ast.Call):
        first = node.value.args[0] if node.value.args else None
        own = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else name
        return own if _last(node.value.func) in _CALLS else ""
    kind = node.annotation if isinstance(node, ast.AnnAssign) and node.value is None else None
    return name if isinstance(kind, ast.Subscript) and _last(kind.value) == "Mapped" else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
