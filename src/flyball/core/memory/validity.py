"""Whether a learning still holds in a tree: its files are there, and what would invalidate it has not come true.

Three forms of `Invalidated If` are looked up: `path X exists`, `path X gone` and `X mentions Y`. Any other text is for the reader.
"""

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Literal, Protocol

import msgspec

from flyball.core.model.events import LearningRecorded

REWRITTEN = 0.5
"""A file of which less than this share of lines is left was rewritten."""
FILES_COMPARED = 2
_PATH = re.compile(r"path\s+[`'\"]?(?P<path>[^`'\"]+?)[`'\"]?\s+(?:is\s+)?(?P<verb>exists|gone)\.?", re.IGNORECASE)
_MENTIONS = re.compile(
    r"[`'\"]?(?P<path>[^\s`'\"]+)[`'\"]?\s+(?P<verb>mentions)\s+[`'\"]?(?P<text>[^`'\"]+?)[`'\"]?", re.IGNORECASE
)


class Tree(Protocol):
    def exists(self, path: str) -> bool: ...
    def text(self, path: str) -> str | None: ...
    def text_then(self, commit: str, path: str) -> str | None: ...


class Condition(msgspec.Struct, frozen=True):
    """An `Invalidated If` that can be looked up."""

    path: str
    verb: Literal["exists", "gone", "mentions"]
    text: str = ""


class Doubt(msgspec.Struct, frozen=True):
    """What the tree says of a learning: why it is `stale`, or what a reader should know."""

    stale: str = ""
    note: str = ""


def condition(text: str) -> Condition | None:
    found = _PATH.fullmatch(text.strip()) or _MENTIONS.fullmatch(text.strip())
    if found is None or not _is_inside(found["path"]):
        return None
    said = found["text"] if found.re is _MENTIONS else ""
    return Condition(found["path"], found["verb"].lower(), said)  # type: ignore[arg-type]


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\0" not in path


def doubt(fact: LearningRecorded, tree: Tree, *, compare: bool = True) -> Doubt:
    """Look a learning up; `compare` also reads the files it is about, then and now."""
    stale = _condition_met(fact, tree) or _missing_file(fact, tree)
    if stale or not compare:
        return Doubt(stale)
    changed = [path for path in fact.files[:FILES_COMPARED] if _is_rewritten(fact.commit, path, tree)]
    return Doubt(note=f"changed since: {', '.join(changed)}" if changed else "")


def _condition_met(fact: LearningRecorded, tree: Tree) -> str:
    wanted = condition(fact.invalidated_if)
    if wanted is None:
        return ""
    there = tree.exists(wanted.path)
    if wanted.verb == "mentions":
        holds = there and wanted.text in (tree.text(wanted.path) or "")
        return f"{wanted.path} mentions {wanted.text}" if holds else ""
    return f"path {wanted.path} {wanted.verb}" if there == (wanted.verb == "exists") else ""


def _missing_file(fact: LearningRecorded, tree: Tree) -> str:
    """A file the learning itself names is gone, or all it is about are; an anti-pattern tells of work that is not there."""
    if fact.kind == "anti-pattern" or not fact.files:
        return ""
    said = f"{fact.title} {fact.choice}"
    missing = [path for path in fact.files if not tree.exists(path)]
    named = [path for path in missing if PurePosixPath(path).name in said]
    if named or len(missing) == len(fact.files):
        return f"{(named or missing)[0]} is gone"
    return ""


def _is_rewritten(commit: str, path: str, tree: Tree) -> bool:
    then = tree.text_then(commit, path) if commit else None
    now = tree.text(path) if then is not None else None
    if not then or now is None or then == now:
        return False
    before, after = Counter(then.split("\n")), Counter(now.split("\n"))
    return (before & after).total() < REWRITTEN * before.total()
