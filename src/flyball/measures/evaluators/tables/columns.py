"""Tables and columns that models of SQLAlchemy map, or plain SQL in the code asks for, and no migration makes; read and not run."""

import ast
import re
from collections.abc import Iterator, Sequence

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees, is_product
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


class MappedTable(msgspec.Struct, frozen=True):
    """A class that maps a table; `name` is empty where the class does not say which."""

    name: str
    line: int
    end_line: int
    columns: tuple[tuple[str, int], ...]


def unmigrated_columns(trees: TrackTrees, migrations: Sequence[str]) -> Iterator[TrackDefect]:
    """Tables and columns of models that the track added and no migration makes."""
    written = [text for path in migrations for text in _migration_steps(path, trees.head.text(path))]
    if not written or any("create_all(" in text for text in written):
        return
    models = [path for path in trees.base.of(*PYTHON) if path not in migrations]
    before = [table for path in models for table in mapped_tables(trees.base.text(path))]
    for path in trees.changed_files(*PYTHON):
        if path not in migrations and is_product(path):
            for table in mapped_tables(trees.head.text(path)):
                yield from _table_defects(trees.head, path, table, written, before)


def _table_defects(
    tree: SourceTree, path: str, table: MappedTable, written: Sequence[str], before: Sequence[MappedTable]
) -> Iterator[TrackDefect]:
    name, action = table.name, "write a migration"
    known = {(each.name, column) for each in before for column, _ in each.columns}
    made = any(_MAKES.search(text) and _names(text, name) for text in written)
    if name and not made and name not in {each.name for each in before}:
        text = f"the table {name} is new and no migration makes it"
        yield tree.defect("no-migration", text, path, table.line, end_line=table.end_line, action=action)
        return
    own = [text for text in written if _names(text, name)]
    if name and any(_RENAMES.search(text) for text in own):
        return
    for column, line in table.columns:
        if (name, column) not in known and not any(_is_about(text, name) and _names(text, column) for text in own):
            text = f"the column {column} is new and no migration adds it"
            yield tree.defect("no-migration", text, path, line, action=action)


def _is_about(text: str, table: str) -> bool:
    return not table or _subject_of(text) in ("", table)


def _subject_of(text: str) -> str:
    return next((found[1] for one in _SUBJECTS if (found := one.search(text))), "")


def _names(text: str, word: str) -> bool:
    """Whether a statement has a word of its own; no word is in every statement."""
    return not word or re.search(rf"(?<![\w$]){re.escape(word)}(?![\w$])", text) is not None


def _migration_steps(path: str, text: str) -> list[str]:
    """The parts of a migration that stand for themselves: SQL statements, statements of Alembic's upgrade, else the file."""
    if path.endswith(".sql"):
        return re.sub(r"--[^\n]*", "", text).split(";")
    module = parse(text.encode()) if path.endswith(".py") else None
    upgrades = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "upgrade"] if module else []  # fmt: skip
    parts = [ast.get_source_segment(text, node) or "" for each in upgrades for node in each.body]
    return parts or [text]


def mapped_tables(text: str) -> list[MappedTable]:
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


def unmade_columns(trees: TrackTrees, migrations: Sequence[str]) -> Iterator[TrackDefect]:
    """Queries of one table, which the migrations make, for a column that none of them names."""
    written = [text.lower() for path in migrations for text in _migration_steps(path, trees.head.text(path))]
    for path in trees.changed_files(*PYTHON, *SCRIPTS) if written else ():
        if path not in migrations and is_product(path):
            for table, column, line in _queried_columns(trees.head.text(path).lower()):
                own = [text for text in written if _names(text, table) and _is_about(text, table)]
                if _says_all(own, table) and not any(_names(text, column) for text in own):
                    told = f"no migration gives the table {table} the column {column}"
                    yield trees.head.defect("no-migration", told, path, line, action="write a migration")


def _says_all(own: Sequence[str], table: str) -> bool:
    """Whether a table's migrations make it and write out its columns, and it was never called otherwise."""
    made = any(_MADE.search(text) and _subject_of(text) == table for text in own)
    return made and not any(_ELSEWHERE.search(text) for text in own)


def _queried_columns(text: str) -> Iterator[tuple[str, str, int]]:
    for query in (found for one in _QUERIES for found in one.finditer(text)):
        if not _SEVERAL.search(query["rest"]):
            for column in re.finditer(r"\w+", query["columns"]):
                if column[0].lower() not in _NO_COLUMN:
                    at = query.start("columns") + column.start()
                    yield query["table"], column[0], text.count("\n", 0, at) + 1
