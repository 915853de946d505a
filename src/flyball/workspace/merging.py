"""Brings the work of one lane onto another commit, by git's own three-way merge and without a working tree."""

from datetime import datetime

from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.core.text.scrubbing import decode, storable
from flyball.workspace.checkpoint import Author, commit_tree
from flyball.workspace.git import LONG, failure
from flyball.workspace.vault import Vault

_CONFLICTS = 1
_MOST_NAMED = 200


def integrate(
    vault: Vault, commit: Commit, *, base: Commit, onto: Commit, message: str, at: datetime, author: Author
) -> Integrated | Conflicted | NothingToIntegrate:
    """What `commit` changed since `base`, merged into `onto`; the same inputs always give the same commit.

    Both sides are put on `base` by commits of their own, so that git merges from exactly there, whatever their history is.
    """
    sides = [
        commit_tree(vault, vault.tree(side), base, message="one side of a merge", at=at, author=Author())
        for side in (onto, commit)
    ]
    done = vault.git().run("merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", *sides, timeout=LONG)
    if done.code not in {0, _CONFLICTS}:
        raise failure(("merge-tree",), done)
    tree, *names = done.stdout.rstrip(b"\0\n").split(b"\0")
    if done.code == _CONFLICTS:
        paths = tuple(dict.fromkeys(storable(decode(name)) for name in names))
        return Conflicted(paths[:_MOST_NAMED], f"both sides changed {', '.join(paths[:5])}")
    merged = tree.decode().strip()
    if merged == vault.tree(onto):
        return NothingToIntegrate()
    made = commit_tree(vault, merged, onto, message=message, at=at, author=author)
    return Integrated(Commit(made), merged)
