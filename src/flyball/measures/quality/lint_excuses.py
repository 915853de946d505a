"""What a task added that can keep a linter quiet: comments, whatever they say, and files that hide others from it."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

import msgspec
from pygments.lexer import Lexer
from pygments.token import Comment, is_token_subtype

from flyball.core.model.task import Commit
from flyball.measures.sources import LARGEST, is_code, lexer_of
from flyball.measures.tampering.protected import changed_paths
from flyball.ports import Trees

_LINTED = re.compile(r".*\.(?:sh|bash|ya?ml|s?css|less|vue|svelte|sql|tf)")
_NO_REMARKS = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
_HIDES = frozenset({".gitignore"})
"""What a tree holds is not ignored, so for what is linted these files say nothing."""
_READ_BY_OTHERS = re.compile(
    r"\W*(?:go:(?!nolint)|\+build|-\*-|coding[:=]|frozen_string_literal|@flow|@jsx|<reference|type:(?!\s*ignore)|copyright[^#:*/]*$|spdx-)",
    re.IGNORECASE,
)
"""Comments that compilers and people of law read: without them a linter would find what is not there."""


class BareTree(msgspec.Struct, frozen=True):
    """How a tree differs once nothing of what was added can keep a linter quiet: paths as the base has them, and new contents."""

    paths: dict[str, Commit | None]
    contents: dict[str, bytes]

    def __bool__(self) -> bool:
        return bool(self.paths or self.contents)


def bare_tree(workspace: Trees, base: Commit, candidate: Commit, without: Collection[str] = ()) -> BareTree:
    """The changed files with their new comments made unreadable, each letter by letter, and ignore files as they were."""
    before = frozenset(workspace.list_files(base))
    changed = [path for path in changed_paths(workspace, base, candidate) if path not in without]
    paths = {p: base if p in before else None for p in changed if PurePosixPath(p).name in _HIDES}
    sources = [
        (path, lexer)
        for path in changed
        if path not in paths and (is_code(path) or _LINTED.fullmatch(path)) and (lexer := lexer_of(path))
    ]
    known: Counter[str] = Counter()
    for path, lexer in sources:
        known.update(text for _, text in _comments(workspace.read_file(base, path) if path in before else None, lexer))
    contents: dict[str, bytes] = {}
    for path, lexer in sources:
        source = workspace.read_file(candidate, path)
        masked = _mask_new_comments(source, lexer, known)
        if source is not None and masked is not None and masked != source:
            contents[path] = masked
    return BareTree(paths, contents)


def _comments(source: bytes | None, lexer: Lexer) -> Iterator[tuple[int, str]]:
    """Where each comment of a source begins, and its text; of a file that is no text there is none."""
    try:
        text = source.decode() if source and len(source) <= LARGEST else ""
    except UnicodeDecodeError:
        return
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        if is_token_subtype(kind, Comment) and not any(is_token_subtype(kind, each) for each in _NO_REMARKS):
            yield at, value.rstrip("\n")


def _mask_new_comments(source: bytes | None, lexer: Lexer, known: Counter[str]) -> bytes | None:
    """A source in which comments that the task added have an x for each letter; those that stood before, wherever, are used up."""
    found = list(_comments(source, lexer))
    if not source or not found:
        return None
    text, at, parts = source.decode(), 0, list[str]()
    for start, comment in found:
        fresh = known[comment] <= 0
        known[comment] -= 1
        if fresh and not _READ_BY_OTHERS.match(comment):
            parts += [text[at:start], _unreadable(comment)]
            at = start + len(comment)
    return "".join((*parts, text[at:])).encode()


def _unreadable(comment: str) -> str:
    """A comment of the same shape: its marks stay, for a formatter looks at them, and its words say nothing."""
    marks = re.match(r"\s*(?:#+:?|/\*+!?|//+!?|--+|<!--|;+|%+|\"+|'+|\(\*)?", comment)
    head = marks.end() if marks else 0
    end = re.search(r"\s*(?:\*+/|-->|\*\))?\s*$", comment[head:])
    tail = head + end.start() if end else len(comment)
    lines = re.sub(r"(?m)(^\s*\*(?= |$))|\S", lambda found: found[1] or "x", comment[head:tail])
    return comment[:head] + lines + comment[tail:]
