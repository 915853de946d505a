"""Migrations of Alembic, read and not run: each step of an upgrade as SQL for squawk, and upgrades without a way back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree
from flyball.measures.evaluators.toolbox import Toolbox
from flyball.measures.sources import parse

_JUDGED = frozenset({"adding-required-field", "ban-drop-column", "ban-drop-table", "renaming-column", "renaming-table"})
"""Rules that hold for every database, and need no type of a column."""


class MigrationStep(msgspec.Struct, frozen=True):
    """One operation of an upgrade."""

    sql: str
    line: int
    end_line: int


def alembic_defects(toolbox: Toolbox, tree: SourceTree, files: Sequence[str]) -> list[TrackDefect]:
    """What squawk says of the steps, and upgrades whose downgrade does nothing."""
    found: list[TrackDefect] = []
    for path in files:
        module = parse(tree.text(path).encode()) if "alembic" in tree.text(path) else None
        upgrade, downgrade = _function(module, "upgrade"), _function(module, "downgrade")
        if upgrade is None:
            continue
        found += _judged(toolbox, tree, path, steps(upgrade))
        if downgrade is not None and not _does(downgrade) and _does(upgrade):
            text, action = "the downgrade does nothing, so there is no way back", "write it, or raise where there is none"  # fmt: skip
            last = downgrade.end_lineno or downgrade.lineno
            found.append(tree.defect("no-way-back", text, path, downgrade.lineno, end_line=last, action=action))
    return found


def _function(module: ast.Module | None, name: str) -> ast.FunctionDef | None:
    body = module.body if module is not None else ()
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _does(function: ast.FunctionDef) -> bool:
    """Whether there is more in it than `pass`, `...` and a docstring."""
    return any(not isinstance(node, ast.Pass) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in function.body)  # fmt: skip


def _judged(toolbox: Toolbox, tree: SourceTree, path: str, known: list[MigrationStep]) -> Iterator[TrackDefect]:
    if not known:
        return
    file = toolbox.folder("alembic") / "upgrade.sql"
    file.write_text("".join(f"{step.sql};\n" for step in known), encoding="utf-8")
    for each in toolbox.json("squawk", toolbox.run("squawk", ["--reporter", "json", file.name], cwd=file.parent)):
        step = known[min(int(each["line"]), len(known) - 1)]
        if each["rule_name"] in _JUDGED:
            rule, text, action = f"squawk/{each['rule_name']}", str(each["message"]), str(each.get("help") or "")
            yield tree.defect(rule, text, path, step.line, end_line=step.end_line, action=action)


def steps(upgrade: ast.FunctionDef) -> list[MigrationStep]:
    """The steps that change tables which were there before, in their order."""
    batches, made, found = dict(_batches(upgrade)), set[str](), []
    calls = [node for node in ast.walk(upgrade) if isinstance(node, ast.Call) and _called(node) in _STEPS]
    for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        table, given = _table(call, batches)
        if _called(call) == "create_table":
            made.add(table)
        elif table and table not in made and (sql := _SQL[_called(call)](call, given)):
            found.append(
                MigrationStep(sql.replace("{table}", _quoted(table)), call.lineno, call.end_lineno or call.lineno)
            )
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
    filled = filled or any(isinstance(each, ast.Call) and _called(each) in {"Computed", "Identity"} for each in column.args)  # fmt: skip
    more = (" NOT NULL" if required else "") + (" DEFAULT ''" if filled else "")
    return f"ALTER TABLE {{table}} ADD COLUMN {_quoted(_text(column.args[:1]))} text{more}"


def _drop_column(call: ast.Call, given: Sequence[ast.expr]) -> str:
    column = _text(given[:1]) or _keyword(call, "column_name")
    return f"ALTER TABLE {{table}} DROP COLUMN {_quoted(column)}" if column else ""


def _alter_column(call: ast.Call, given: Sequence[ast.expr]) -> str:
    old, new = _text(given[:1]) or _keyword(call, "column_name"), _keyword(call, "new_column_name")
    return f"ALTER TABLE {{table}} RENAME COLUMN {_quoted(old)} TO {_quoted(new)}" if old and new else ""


def _rename_table(call: ast.Call, given: Sequence[ast.expr]) -> str:
    new = _text(given[:1]) or _keyword(call, "new_table_name")
    return f"ALTER TABLE {{table}} RENAME TO {_quoted(new)}" if new else ""


_SQL: dict[str, Callable[[ast.Call, Sequence[ast.expr]], str]] = {
    "add_column": _add_column,
    "drop_column": _drop_column,
    "alter_column": _alter_column,
    "rename_table": _rename_table,
    "drop_table": lambda _call, _given: "DROP TABLE {table}",
}
_STEPS = frozenset({"create_table", *_SQL})


def _text(given: Sequence[ast.expr]) -> str:
    return next((each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)), "")


def _keyword(call: ast.Call, name: str) -> str:
    return _text([each.value for each in call.keywords if each.arg == name])


def _is(node: ast.expr, *, value: bool | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', "").replace("\n", " ") + '"'
