"""Whether a task's work is in one of the user's own branches by now, however they merged it.

The work is there when its commit is (a merge, a fast-forward), when the branch's commits have the same patches (a rebase), when one commit
has the patch of all of them (a squash), or when every file the task changed stands there as the task left it.
"""

import os
from collections.abc import Iterable

from flyball.core.model.naming import LOOP
from flyball.workspace.errors import GitFailed, UnknownCommit
from flyball.workspace.git import Git, records
from flyball.workspace.repository import Repository
from flyball.workspace.trees import changed
from flyball.workspace.vault import Vault

MOST_PATHS = 400
MOST_COMMITS = 500
_USUAL = ("main", "master")


def merged_into(repository: Repository, vault: Vault, *, base: str, head: str, onto: str) -> str:
    """The branch that has what was done between `base` and `head`; empty where none has. `onto` is where the task started."""
    if head == base or not repository.objects.is_dir():
        return ""
    git = vault.git()
    try:
        targets = _targets(repository, onto)
        for name, tip in targets.items():
            if git.run("merge-base", "--is-ancestor", head, tip).code == 0:
                return name
        paths = [each.path for each in changed(vault, base, head) if not each.path.startswith(f"{LOOP}/")]
        return next((name for name, tip in targets.items() if _holds(git, base, head, tip, paths)), "")
    except (GitFailed, UnknownCommit):
        return ""


def _targets(repository: Repository, onto: str) -> dict[str, str]:
    """The branches a task is merged into: the one it started from and the usual ones, here and as last seen on remotes."""
    names = dict.fromkeys(name for name in (onto, *_USUAL) if name)
    local = [f"refs/heads/{name}" for name in names]
    remote = [f"refs/remotes/*/{name}" for name in (*names, "HEAD")]
    listing = repository.git().out("for-each-ref", "--format=%(objectname) %(refname)%00", *local, *remote)
    found: dict[str, str] = {}
    for record in records(listing):
        tip, _, ref = record.removeprefix("\n").partition(" ")
        found[ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")] = tip
    first = [name for name in (onto,) if name in found]
    return {name: found[name] for name in (*first, *(name for name in found if name not in first)) if found[name]}


def _holds(git: Git, base: str, head: str, tip: str, paths: list[str]) -> bool:
    if not paths or len(paths) > MOST_PATHS:
        return False
    if git.run("diff-tree", "--quiet", "-r", head, tip, "--", *paths).code == 0:
        return True
    theirs = _patches(git, _log(git, base, tip, paths))
    if not theirs:
        return False
    whole = _patches(git, git.out("diff-tree", "-p", "-r", "--no-renames", "--full-index", base, head, "--", *paths))
    own = _patches(git, _log(git, base, head, paths))
    return bool(whole) and (whole <= theirs or (bool(own) and own <= theirs))


def _log(git: Git, base: str, tip: str, paths: Iterable[str]) -> bytes:
    """The patches of the commits that came on top of `base`, as far as they concern these files."""
    options = ("--no-merges", "--no-renames", "--full-index", "--format=commit %H", f"--max-count={MOST_COMMITS}")
    return git.out("log", "-p", *options, tip, f"^{base}", "--", *paths)


def _patches(git: Git, patches: bytes) -> set[str]:
    """The ids of patches, which do not depend on line numbers or white space; a patch without a commit has one, too."""
    lines = git.out("patch-id", "--stable", input=patches).splitlines()
    return {os.fsdecode(line.split()[0]) for line in lines if line}
