"""Migrations in SQL and of Alembic, read and not run: squawk, foreign keys without index, upgrades without a way back."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree, TrackTrees
from flyball.measures.evaluators.toolbox import Toolbox
from flyball.measures.sources import parse

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
_ON_STEPS = frozenset(
    {"adding-required-field", "ban-drop-column", "ban-drop-table", "renaming-column", "renaming-table"}
)
"""Rules that hold for every database, and need no type of a column."""


class MigrationStep(msgspec.Struct, frozen=True):
    sql: str
    line: int
    end_line: int


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


def alembic_defects(toolbox: Toolbox, tree: SourceTree) -> Iterator[TrackDefect]:
    """What squawk says of the steps of each upgrade, and upgrades whose downgrade does nothing."""
    for path in migration_files(tree):
        module = parse(tree.text(path).encode()) if "alembic" in tree.text(path) else None
        functions = {node.name: node for node in reversed(module.body) if isinstance(node, ast.FunctionDef)} if module else {}  # fmt: skip
        upgrade, downgrade = functions.get("upgrade"), functions.get("downgrade")
        if upgrade is None:
            continue
        yield from _step_defects(toolbox, tree, path, steps(upgrade))
        if downgrade is not None and not _does(downgrade) and _does(upgrade):
            text, action = "the downgrade does nothing, so there is no way back", "write it, or raise where there is none"  # fmt: skip
            last = downgrade.end_lineno or downgrade.lineno
            yield tree.defect("no-way-back", text, path, downgrade.lineno, end_line=last, action=action)


def _does(function: ast.FunctionDef) -> bool:
    """Whether there is more in it than `pass`, `...` and a docstring."""
    return any(not isinstance(node, ast.Pass) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in function.body)  # fmt: skip


def _step_defects(toolbox: Toolbox, tree: SourceTree, path: str, known: list[MigrationStep]) -> Iterator[TrackDefect]:
    if not known:
        return
    file = toolbox.folder("alembic") / "upgrade.sql"
    file.write_text("".join(f"{step.sql};\n" for step in known), encoding="utf-8")
    for said in toolbox.json("squawk", toolbox.run("squawk", ["--reporter", "json", file.name], cwd=file.parent)):
        step = known[min(int(said["line"]), len(known) - 1)]
        if said["rule_name"] in _ON_STEPS:
            rule, text, action = f"squawk/{said['rule_name']}", str(said["message"]), str(said.get("help") or "")
            yield tree.defect(rule, text, path, step.line, end_line=step.end_line, action=action)


def steps(upgrade: ast.FunctionDef) -> list[MigrationStep]:
    """The steps that change tables which were there before, in their order."""
    batches, made, found = dict(_batches(upgrade)), set[str](), []
    calls = [node for node in ast.walk(upgrade) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        name, (table, given) = _function_name(call), _table(call, batches)
        if name == "create_table":
            made.add(table)
        elif name in _SQL and table and table not in made and (sql := _SQL[name](call, given)):
            sql = sql.replace("{table}", _quote(table))
            found.append(MigrationStep(sql, call.lineno, call.end_lineno or call.lineno))
    return found


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


def _add_column(call: ast.Call, given: Sequence[ast.expr]) -> str:
    column = next((each for each in (*given, *(one.value for one in call.keywords)) if isinstance(each, ast.Call)), None)  # fmt: skip
    if column is None or not _text(column.args[:1]):
        return ""
    required = any(each.arg == "nullable" and _is(each.value, value=False) for each in column.keywords)
    filled = any(each.arg in {"server_default", "primary_key"} and not _is(each.value, value=None) for each in column.keywords)  # fmt: skip
    filled = filled or any(isinstance(each, ast.Call) and _function_name(each) in {"Computed", "Identity"} for each in column.args)  # fmt: skip
    more = (" NOT NULL" if required else "") + (" DEFAULT ''" if filled else "")
    return f"ALTER TABLE {{table}} ADD COLUMN {_quote(_text(column.args[:1]))} text{more}"


def _drop_column(call: ast.Call, given: Sequence[ast.expr]) -> str:
    column = _text(given[:1]) or _keyword(call, "column_name")
    return f"ALTER TABLE {{table}} DROP COLUMN {_quote(column)}" if column else ""


def _alter_column(call: ast.Call, given: Sequence[ast.expr]) -> str:
    old, new = _text(given[:1]) or _keyword(call, "column_name"), _keyword(call, "new_column_name")
    return f"ALTER TABLE {{table}} RENAME COLUMN {_quote(old)} TO {_quote(new)}" if old and new else ""


def _rename_table(call: ast.Call, given: Sequence[ast.expr]) -> str:
    new = _text(given[:1]) or _keyword(call, "new_table_name")
    return f"ALTER TABLE {{table}} RENAME TO {_quote(new)}" if new else ""


_SQL: dict[str, Callable[[ast.Call, Sequence[ast.expr]], str]] = {
    "add_column": _add_column,
    "drop_column": _drop_column,
    "alter_column": _alter_column,
    "rename_table": _rename_table,
    "drop_table": lambda _call, _given: "DROP TABLE {table}",
}


def _text(given: Sequence[ast.expr]) -> str:
    return next((each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)), "")


def _keyword(call: ast.Call, name: str) -> str:
    return _text([each.value for each in call.keywords if each.arg == name])


def _is(node: ast.expr, *, value: bool | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _function_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _quote(name: str) -> str:
    return '"' + name.replace('"', "").replace("\n", " ") + '"'
