"""What a piece of work changed beside the files it declared, and what is to be done about each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from flyball.core.model.events import UndeclaredEditsFound
from flyball.core.model.naming import LOOP
from flyball.core.model.task import MAIN

_TEST = re.compile(r"(?:test_)?(.+?)(?:[._-](?:test|spec)|_test|Tests?|Spec)?", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\.[A-Za-z0-9]+)+$")


def undeclared_edits(
    declared: Sequence[str],
    changed: Iterable[tuple[str, str]],
    *,
    item: str = "",
    lane: str = MAIN,
    protected: Collection[str] = (),
    sources: Sequence[str] = (),
    others: Mapping[str, Sequence[str]] | None = None,
) -> UndeclaredEditsFound:
    """Sort the changed paths (status, path) by what they mean.

    Covered are declared files, all in declared folders, what a declared pattern matches, and the tests of declared files. `sources` are
    files only code writes, like `.loop/`; `others` maps other items to the files they declared. Who declared nothing declared everything.
    `protected` are the protected files whose change was consented to: whoever allowed that allowed a deletion, too.
    """
    also: list[str] = []
    deleted: list[str] = []
    guarded: list[str] = []
    dropped: list[str] = []
    for status, path in changed:
        if path.startswith(f"{LOOP}/") or is_declared(path, sources):
            dropped.append(path)
        elif not declared or is_declared(path, declared) or is_test_of(path, declared):
            continue
        elif path in protected:
            guarded.append(path)
        elif status == "D":
            deleted.append(path)
        else:
            also.append(path)
    outside = (*also, *deleted, *guarded)
    shared = {name: tuple(p for p in outside if is_declared(p, files)) for name, files in (others or {}).items()}
    return UndeclaredEditsFound(
        item,
        tuple(also),
        tuple(deleted),
        tuple(guarded),
        tuple(dropped),
        {name: paths for name, paths in shared.items() if paths},
        lane,
    )


def is_declared(path: str, declared: Iterable[str]) -> bool:
    """Whether a file was named, lies in a folder that was, or fits a pattern that was."""
    return any(
        path == each or path.startswith(f"{each.rstrip('/')}/") or ("*" in each and fnmatchcase(path, each))
        for each in (name.removeprefix("./") for name in declared)
    )


def is_test_of(path: str, declared: Iterable[str]) -> bool:
    """Whether a file is by its name the test of a declared one: `tests/test_a.py` or `a.spec.ts` beside `src/a.py` or `a.ts`."""
    name = _stem(path)
    found = _TEST.fullmatch(name)
    subject = found.group(1) if found else name
    return subject != name and subject in {_stem(each) for each in declared}


def _stem(path: str) -> str:
    """A file's name without folders and without its endings, but for one that says it is a test."""
    name = path.rstrip("/").rpartition("/")[2]
    plain = _SUFFIX.sub("", name)
    tested = re.search(r"\.(test|spec)\.", name, re.IGNORECASE)
    return f"{plain}.{tested.group(1)}" if tested else plain
