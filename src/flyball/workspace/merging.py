"""Brings the work of one lane onto another commit, by git's own three-way merge and without a working tree.

The merge runs in the vault, whose configuration is flyball's own, so no merge driver of the repository is started. The one driver that needs
no program, `merge=union`, works where the .gitattributes at the root of the base tree asks for it.
"""

import os
import re
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from flyball import faults
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.core.text.quantities import first_few
from flyball.core.text.scrubbing import decode, scrub, storable
from flyball.process import Captured
from flyball.workspace import trees
from flyball.workspace.checkpoint import CommitAuthor, commit_tree
from flyball.workspace.git import LONG, failure, records
from flyball.workspace.vault import Vault

_CONFLICTS = 1
_MOST_NAMED = 200
_MOST_TEXT = 12_000
"""Characters of each diff and of the markers that a conflict carries."""
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TEXTUAL = frozenset({"CONFLICT (contents)", "CONFLICT (add/add)"})
_TOLD = ("CONFLICT", "error", "warning")

Merged = Integrated | Conflicted | NothingToIntegrate


class Merge(msgspec.Struct, frozen=True):
    """What is to be merged: what `commit` changed since `base`, into `onto`.

    Files and folders in `without` stay as in `base`, whatever `commit` made of them. `name` is what the conflict markers call the lane.
    """

    commit: Commit
    base: Commit
    onto: Commit
    name: str = "lane"
    without: tuple[str, ...] = ()


class _Clash(msgspec.Struct, frozen=True):
    """What git says of a merge that is not clean: its tree with markers, the files in conflict, and why."""

    tree: str
    paths: tuple[str, ...]
    kinds: dict[str, set[str]]
    messages: tuple[str, ...]


def integrate(vault: Vault, merge: Merge, *, message: str, at: datetime, author: CommitAuthor) -> Merged:
    """The merge as a commit on `onto`; the same inputs always give the same commit.

    Both sides are put on the base by commits of their own, so that git merges from exactly there, whatever their history is: work
    that was rolled back does not come back with a lane that began before.
    """
    lane, dropped = _without(vault, merge)
    sides = [
        commit_tree(vault, vault.tree(side), merge.base, message="one side of a merge", at=at)
        for side in (merge.onto, lane)
    ]
    faults.point("integrate.merge.before")
    done = _merge_trees(vault, merge.base, sides)
    # Exit 1 is a conflict and also "not something we can merge": only the id of a tree tells them apart.
    if done.code not in {0, _CONFLICTS} or not _ID.match(done.stdout):
        raise failure(("merge-tree",), done)
    tree = done.stdout.partition(b"\0")[0].decode().strip()
    if done.code == _CONFLICTS:
        return _conflict(vault, msgspec.structs.replace(merge, commit=Commit(lane)), sides, _read(done))
    if tree == vault.tree(merge.onto):
        return NothingToIntegrate(dropped)
    faults.point("integrate.commit.before")
    made = commit_tree(vault, tree, merge.onto, message=message, at=at, author=author)
    changed = trees.changed_files(vault, merge.base, lane)
    named = tuple((each.status, storable(each.path)) for each in changed[:_MOST_NAMED])
    return Integrated(Commit(made), tree, named, len(changed), dropped)


def _merge_trees(vault: Vault, base: str, sides: Sequence[str]) -> Captured:
    """Git's merge by the base tree's own .gitattributes: `merge=union` works, and no other driver is configured here."""
    with tempfile.TemporaryDirectory(prefix="flyball-") as folder:
        attributes = Path(folder, "attributes")
        attributes.write_bytes(trees.read_file(vault, base, ".gitattributes") or b"")
        settings = ("merge.conflictStyle=diff3", f"core.attributesFile={attributes}")
        git = msgspec.structs.replace(vault.git_as_cloned(Path(folder), Path(folder, "index")), settings=settings)
        return git.run("merge-tree", "--write-tree", "-z", *sides, timeout=LONG)


def _without(vault: Vault, merge: Merge) -> tuple[str, tuple[str, ...]]:
    """The lane's tree with what it may not bring along as in its base, and the names of what was dropped."""
    if not merge.without:
        return merge.commit, ()
    kept = [path.rstrip("/") for path in merge.without]
    changed = [each.path for each in trees.changed_files(vault, merge.base, merge.commit)]
    dropped = [path for path in changed if any(path == k or path.startswith(f"{k}/") for k in kept)]
    tree = trees.overlay_tree(vault, merge.commit, dict.fromkeys(dropped, merge.base))
    return tree, tuple(storable(path) for path in dropped[:_MOST_NAMED])


def _read(done: Captured) -> _Clash:
    """The parts of `merge-tree -z`: a tree; mode, blob, stage and path of each version; messages with their files and kind."""
    tree, _, rest = done.stdout.partition(b"\0")
    versions, _, told = (b"\0" + rest).partition(b"\0\0")
    in_conflict = [line.partition("\t")[2] for line in records(versions)]
    kinds: dict[str, set[str]] = {}
    messages = []
    fields = iter(os.fsdecode(field) for field in told.split(b"\0"))
    for count in fields:
        if not count.strip().isdigit():
            break
        paths = [next(fields) for _ in range(int(count))]
        kind, text = next(fields), next(fields)
        if kind.startswith(_TOLD):
            messages.append(storable(scrub(text).strip()))
            for path in paths:
                kinds.setdefault(path, set()).add(kind)
    return _Clash(tree.decode().strip(), tuple(dict.fromkeys((*in_conflict, *kinds))), kinds, tuple(messages))


def _conflict(vault: Vault, merge: Merge, sides: Sequence[str], clash: _Clash) -> Conflicted:
    """Both sides of it as text, so that whoever did the work can do it again on the tip."""
    paths = clash.paths
    marked = "".join(_with_markers(vault, clash, path) for path in paths[:_MOST_NAMED])
    for side, name in zip(sides, ("integrated", merge.name), strict=True):
        marked = marked.replace(side, name)
    named = tuple(storable(path) for path in paths)
    return Conflicted(
        named[:_MOST_NAMED],
        f"both sides changed {first_few(named, 5)}",
        own_diff=_diff_text(vault, merge.base, merge.commit, paths),
        other_diff=_diff_text(vault, merge.base, merge.onto, paths),
        markers=_limit(marked or "\n".join(clash.messages)),
    )


def _with_markers(vault: Vault, clash: _Clash, path: str) -> str:
    """A file as git merged it, where it holds markers of this merge."""
    if not clash.kinds.get(path, set()) & _TEXTUAL:
        return ""
    text = trees.read_file(vault, clash.tree, path) or b""
    return f"=== {storable(path)}\n{scrub(decode(text))}" if b"\0" not in text else ""


def _diff_text(vault: Vault, old: str, new: str, paths: Sequence[str]) -> str:
    return _limit(scrub(decode(trees.diff(vault, old, new, paths) if paths else b"")))


def _limit(text: str) -> str:
    text = storable(text)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}\n… {len(text) - _MOST_TEXT} characters more"
