"""Migrations in SQL and of Alembic, read and not run: squawk, foreign keys without index, upgrades without a way back."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree, TrackTrees
from flyball.measures.sources import called_name, parse

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


def migration_files(tree: SourceTree) -> tuple[str, ...]:
    return tuple(path for path in tree.files if _MIGRATION.search(path) and not path.endswith("__init__.py"))


def sql_defects(trees: TrackTrees, tree: SourceTree) -> Iterator[TrackDefect]:
    """What squawk says of SQL migrations, and foreign keys that no index leads with."""
    files = [path for path in migration_files(tree) if path.endswith(".sql") and tree.text(path)]
    if not files:
        return
    settings = trees.settings("squawk")
    rules = ("--config", str(settings)) if settings else ("--exclude", _EXCLUDED)
    raw = trees.toolbox.run("squawk", ["--reporter", "json", *rules, *files], cwd=tree.root)
    for said in trees.toolbox.json("squawk", raw):
        if not _is_of_a_new_table(tree, said):
            rule, text, path = f"squawk/{said['rule_name']}", str(said["message"]), said["file"].removeprefix("./")
            first, last = int(said["line"]) + 1, int(said.get("line_end", said["line"])) + 1
            yield tree.defect(rule, text, path, first, end_line=last, action=str(said.get("help") or ""))
    yield from _unindexed_keys(tree, files)


def _is_of_a_new_table(tree: SourceTree, said: dict[str, Any]) -> bool:
    """Whether an index is made for a table that the same migration creates, which nobody can be kept waiting for."""
    path = said["file"].removeprefix("./")
    table = re.search(r"\bON\s+(?:ONLY\s+)?\"?(\w+)", tree.line(path, int(said["line"]) + 1), re.IGNORECASE)
    if "concurrent-index" not in said["rule_name"] or not table:
        return False
    made = rf"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?\"?{table[1]}\b"
    return bool(re.search(made, tree.text(path), re.IGNORECASE))


def _unindexed_keys(tree: SourceTree, files: list[str]) -> Iterator[TrackDefect]:
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


def alembic_defects(tree: SourceTree) -> Iterator[TrackDefect]:
    """The steps of each upgrade that break data or clients, and upgrades whose downgrade does nothing."""
    for path in migration_files(tree):
        module = parse(tree.text(path).encode()) if "alembic" in tree.text(path) else None
        functions = {node.name: node for node in reversed(module.body) if isinstance(node, ast.FunctionDef)} if module else {}  # fmt: skip
        upgrade, downgrade = functions.get("upgrade"), functions.get("downgrade")
        if upgrade is None:
            continue
        yield from _step_defects(tree, path, upgrade)
        if downgrade is not None and not _does(downgrade) and _does(upgrade):
            text, action = "the downgrade does nothing, so there is no way back", "write it, or raise where there is none"  # fmt: skip
            last = downgrade.end_lineno or downgrade.lineno
            yield tree.defect("no-way-back", text, path, downgrade.lineno, end_line=last, action=action)


def _does(function: ast.FunctionDef) -> bool:
    """Whether there is more in it than `pass`, `...` and a docstring."""
    return any(not isinstance(node, ast.Pass) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in function.body)  # fmt: skip


def _step_defects(tree: SourceTree, path: str, upgrade: ast.FunctionDef) -> Iterator[TrackDefect]:
    """The steps that change tables which were there before, in their order."""
    batches, made = dict(_batches(upgrade)), set[str]()
    calls = [node for node in ast.walk(upgrade) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        name, (table, given) = called_name(call), _table(call, batches)
        if name == "create_table":
            made.add(table)
        elif name in _BREAKS and table and table not in made:
            breaks, rule, text, action = _BREAKS[name]
            if breaks(call, given):
                last = call.end_lineno or call.lineno
                yield tree.defect(f"squawk/{rule}", text, path, call.lineno, end_line=last, action=action)


def _batches(upgrade: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What `with op.batch_alter_table("t") as batch` calls the steps of a table."""
    items = [item for node in ast.walk(upgrade) if isinstance(node, ast.With) for item in node.items]
    for item in items:
        if isinstance(item.optional_vars, ast.Name) and isinstance(item.context_expr, ast.Call):
            yield item.optional_vars.id, _text(item.context_expr.args[:1])


def _table(call: ast.Call, batches: dict[str, str]) -> tuple[str, Sequence[ast.expr]]:
    """The table of a step, and what else the step was given."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and batches.get(owner.id):
        return batches[owner.id], call.args
    return _text(call.args[:1]) or _keyword(call, "table_name"), call.args[1:]


def _adds_required(call: ast.Call, given: Sequence[ast.expr]) -> bool:
    column = next((each for each in (*given, *(one.value for one in call.keywords)) if isinstance(each, ast.Call)), None)  # fmt: skip
    if column is None or not any(each.arg == "nullable" and _is(each.value, value=False) for each in column.keywords):
        return False
    filled = any(each.arg in {"server_default", "primary_key"} and not _is(each.value, value=None) for each in column.keywords)  # fmt: skip
    return not filled and not any(isinstance(each, ast.Call) and called_name(each) in {"Computed", "Identity"} for each in column.args)  # fmt: skip


_BREAKS: dict[str, tuple[Callable[[ast.Call, Sequence[ast.expr]], object], str, str, str]] = {
    "add_column": (
        _adds_required,
        "adding-required-field",
        "a required column without a default cannot be added to a table that has rows",
        "give it a server_default, or add it as nullable and fill it first",
    ),
    "drop_column": (
        lambda call, given: _text(given[:1]) or _keyword(call, "column_name"),
        "ban-drop-column",
        "a program of the version before may still read or write this column",
        "drop it in a later migration, when nothing uses it",
    ),
    "alter_column": (
        lambda call, _: _keyword(call, "new_column_name"),
        "renaming-column",
        "a program of the version before still uses the old name of this column",
        "add a column of the new name, and drop the old one later",
    ),
    "rename_table": (
        lambda call, given: _text(given[:1]) or _keyword(call, "new_table_name"),
        "renaming-table",
        "a program of the version before still uses the old name of this table",
        "add a view of the old name, or a table of the new one, and remove the old one later",
    ),
    "drop_table": (
        lambda _call, _given: True,
        "ban-drop-table",
        "a program of the version before may still use this table",
        "drop it in a later migration, when nothing uses it",
    ),
}
"""For each step whether it breaks something, and the rule, as squawk calls it for SQL, with what is said and what to do."""


def _text(given: Sequence[ast.expr]) -> str:
    return next((each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)), "")


def _keyword(call: ast.Call, name: str) -> str:
    return _text([each.value for each in call.keywords if each.arg == name])


def _is(node: ast.expr, *, value: bool | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
