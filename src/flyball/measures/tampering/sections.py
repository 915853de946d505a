"""The test sections of manifests that hold more: found, compared, and put back as they were accepted."""

import json
import re
import tomllib
from collections.abc import Callable, Collection
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import msgspec

from flyball.measures.sources import text_of

SECTIONED = frozenset({"pyproject.toml", "package.json", "setup.cfg", "tox.ini", "deno.json"})

_TOML_ALWAYS = (
    "tool.pytest",
    "tool.coverage",
    "tool.tox",
    "tool.nox",
    "project.entry-points.pytest11",
    "tool.poetry.plugins.pytest11",
    *(
        f"tool.{tool}"
        for tool in ("ruff", "mypy", "pylint", "flake8", "black", "isort", "pyright", "basedpyright", "bandit")
    ),
)
_TOML_RUNNERS = {"hatch": "tool.hatch.envs", "poe": "tool.poe", "pdm": "tool.pdm.scripts", "task": "tool.taskipy"}
_JSON_KEYS = (
    *("jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "jasmine", "karma", "babel"),
    *("eslintConfig", "eslintIgnore", "prettier", "stylelint", "xo", "standard"),
    *("tasks", "test", "lint", "fmt", "bench"),
)
"""Of `package.json` and, the last of them, of `deno.json`."""
_FOLDERS = frozenset({"testpaths", "pythonpath", "markers", "roots", "projects"})
_INI = re.compile(
    r"(tool:)?pytest|coverage:.*|testenv.*|tox(:.*)?|gh-actions.*|unittest.*|flake8.*|mypy.*|pylint.*|isort|pycodestyle|pydocstyle|bandit"
)
_INI_HEADER = re.compile(r"^\[([^\]\n]+)\]", re.MULTILINE)
_TOML_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([^\]\n]+?)[ \t]*\]\]?[ \t]*(?:#.*)?$", re.MULTILINE)


class RestoredManifest(msgspec.Struct, frozen=True):
    """A manifest with its accepted test sections, and the names of those the candidate had changed."""

    content: bytes
    changed: tuple[str, ...]


_INLINE = re.compile(r"^([ \t]*)#\[cfg\(test\)\]\s*mod\s+\w+\s*\{.*?^\1\}\n?", re.MULTILINE | re.DOTALL)


def inline_tests(path: str, source: str) -> str:
    """The part of a product's source that only tests are compiled from; empty where its language or the source has none."""
    found = _INLINE.search(source) if path.endswith(".rs") else None
    return found[0] if found else ""


def with_inline_tests(path: str, source: str, tests: str) -> str:
    """A product's source with the tests of another version in the place of its own."""
    own = inline_tests(path, source)
    return source.replace(own, tests) if own else f"{source.rstrip()}\n\n{tests}"


def is_sectioned(path: str) -> bool:
    return PurePosixPath(path).name in SECTIONED


def restore(
    path: str, accepted: bytes | None, candidate: bytes, commands: str, wanted: Collection[str] = ()
) -> RestoredManifest | None:
    """The candidate's manifest with the accepted test sections put back; None when those are the same.

    Sections of tools whose change is `wanted` may change, and those of runners may name more folders.
    """
    name = PurePosixPath(path).name
    kind: Callable[[str, str, str, Collection[str]], tuple[str, tuple[str, ...]]]
    kind = _toml if name.endswith(".toml") else _json if name.endswith(".json") else _ini
    before, after = text_of(accepted), text_of(candidate)
    try:
        content, changed = kind(before, after, commands, wanted)
    except RecursionError:
        content, changed = before, ("the whole file, which is nested too deeply",)
    return RestoredManifest(content.encode(), changed) if changed else None


def _may_differ(section: str, old: Any, new: Any, wanted: Collection[str]) -> bool:
    """Whether a section's change is wanted, or only names more folders of tests, or more marks, behind those it had."""
    if any(re.search(rf"(?:^|[.:\W]){re.escape(tool)}", section) for tool in wanted):
        return True
    if not (isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys()):
        return bool(old == new)
    return all(
        (key in _FOLDERS and isinstance(value, list) and new[key][: len(value)] == value)
        or _may_differ("", value, new[key], ())
        for key, value in old.items()
    )


def _toml(before: str, after: str, commands: str, wanted: Collection[str]) -> tuple[str, tuple[str, ...]]:
    names = (*_TOML_ALWAYS, *(table for tool, table in _TOML_RUNNERS.items() if re.search(rf"\b{tool}\b", commands)))
    try:
        old = tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        old = {}
    try:
        new = tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        return before, (f"the whole file, which is no longer valid TOML ({error})",)
    changed = tuple(name for name in names if not _may_differ(name, _at(old, name), _at(new, name), wanted))
    if not changed:
        return after, ()
    merged = _toml_tables(after, changed, keep=False) + "\n" + _toml_tables(before, changed, keep=True)
    return merged if _is_merge(merged, old, new, changed) else before, changed


def _at(table: Any, dotted: str) -> Any:
    for key in dotted.split("."):
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _is_merge(merged: str, old: dict[str, Any], new: dict[str, Any], changed: tuple[str, ...]) -> bool:
    try:
        found = tomllib.loads(merged)
    except tomllib.TOMLDecodeError:
        return False
    return found.get("project") == new.get("project") and all(_at(found, n) == _at(old, n) for n in changed)


def _toml_tables(text: str, names: tuple[str, ...], *, keep: bool) -> str:
    """The text's tables that are (`keep`) or are not among `names`; what stands before the first is in none."""
    first, *tables = _cut(text, _TOML_HEADER)
    kept = [] if keep else [first[1]]
    for header, table in tables:
        title = re.sub(r"[\"'\s]", "", header)
        if any(title == n or title.startswith(n + ".") for n in names) is keep:
            kept.append(table)
    return _put_together(kept)


def _cut(text: str, header: re.Pattern[str]) -> list[tuple[str, str]]:
    """The parts of a text, each with the title in its header; the first is what stands before any header."""
    starts = [*header.finditer(text)]
    places = [0, *(start.start() for start in starts), len(text)]
    titles = ["", *(start[1] for start in starts)]
    return [(title, text[begin:end]) for title, (begin, end) in zip(titles, pairwise(places), strict=True)]


def _put_together(parts: list[str]) -> str:
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts if part)


def _json(before: str, after: str, commands: str, wanted: Collection[str]) -> tuple[str, tuple[str, ...]]:
    old, new = _object(before) or {}, _object(after)
    if new is None:
        return before, ("the whole file, which is no longer valid JSON, or nested too deeply",)
    if not isinstance(new.get("scripts") or {}, dict):
        return before, ("the whole file, whose scripts are no object",)
    keys = [key for key in _JSON_KEYS if not _may_differ(key, old.get(key), new.get(key), wanted)]
    was, now = old.get("scripts") or {}, new.get("scripts") or {}
    was = was if isinstance(was, dict) else {}
    scripts = [s for s in {**was, **now} if _is_test_script(s, commands) and was.get(s) != now.get(s)]
    for key in keys:
        _put(new, key, old.get(key))
    for script in scripts:
        _put(now, script, was.get(script))
    if scripts:
        new["scripts"] = now
    changed = (*keys, *(f"scripts.{s}" for s in scripts))
    return json.dumps(new, indent=2) + "\n", changed


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _is_test_script(name: str, commands: str) -> bool:
    named = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", commands)
    return named is not None or re.fullmatch(r"(pre|post)?test(:.*)?", name) is not None


def _ini(before: str, after: str, _commands: str, wanted: Collection[str]) -> tuple[str, tuple[str, ...]]:
    old, new = _ini_sections(before), _ini_sections(after)
    changed = tuple(
        s
        for s in {**old, **new}
        if _is_test_section(s, old, new) and not _may_differ(s, _meant(old.get(s)), _meant(new.get(s)), wanted)
    )
    if not changed:
        return after, ()
    kept = [text for title, text in new.items() if title not in changed]
    kept += [text for title, text in old.items() if title in changed]
    return _put_together(kept), changed


def _is_test_section(title: str, old: dict[str, str], new: dict[str, str]) -> bool:
    if title == "options.entry_points":
        return "pytest11" in old.get(title, "") + new.get(title, "")
    return bool(_INI.fullmatch(title))


def _ini_sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for header, section in _cut(text, _INI_HEADER):
        found[header.strip()] = found.get(header.strip(), "") + section
    return found


def _meant(section: str | None) -> list[str]:
    lines = (line.rstrip() for line in (section or "").splitlines()[1:])
    return [line for line in lines if line and not line.lstrip().startswith(("#", ";"))]
