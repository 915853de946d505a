"""Gives the task's result to the user as a branch in their repository, and finds it again in the branches they merged it into.

Nothing but the task's branch is changed there.
"""

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from flyball import faults
from flyball.core.model.naming import LOOP
from flyball.workspace.errors import GitFailed, UnknownCommit, WorkspaceError
from flyball.workspace.git import LONG, Git, failure, records
from flyball.workspace.repository import Repository
from flyball.workspace.trees import changed_files
from flyball.workspace.vault import RefUpdate, Vault, move_refs

_USUAL = ("main", "master")
_MOST_PATHS = 400
_MOST_COMMITS = 500


class BranchPlace(msgspec.Struct, frozen=True):
    """Where a branch of the user's repository stands, the folder it is checked out in, and what it cannot exist beside."""

    tip: str | None
    in_the_way: tuple[str, ...] = ()
    used: str | None = None


def look(repository: Repository, branch: str) -> BranchPlace:
    """Find a branch, and those named as a folder of it or below it: git keeps refs as paths."""
    if not repository.objects.is_dir():
        return BranchPlace(None)
    own, parts = f"refs/heads/{branch}", branch.split("/")
    above = ["refs/heads/" + "/".join(parts[:count]) for count in range(1, len(parts))]
    git = repository.git()
    tips: dict[str, str] = {}
    folders: dict[str, str] = {}
    # The folder's name comes last, for it may hold blanks and newlines.
    for record in records(git.out("for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)%00", *above, own)):
        tip, _, rest = record.removeprefix("\n").partition(" ")
        if tip:
            name, _, folder = rest.partition(" ")
            tips[name], folders[name] = tip, folder
    clashing = [name for name in tips if name in above or name.startswith(f"{own}/")]
    others = tuple(name.removeprefix("refs/heads/") for name in clashing)
    return BranchPlace(tips.get(own), others, folders.get(own) or None)


def publish(
    repository: Repository, vault: Vault, commit: str, branch: str, *, there: BranchPlace, old: str | None, base: str
) -> None:
    """Move `branch` from `old` (None: it must not exist) to `commit`. Repeating a publication changes nothing."""
    if not repository.objects.is_dir():
        raise _base_lost(vault, base)
    if there.tip == commit:
        return
    check_branch(branch, there, old)
    faults.point("publish.objects.before")
    _send(repository, vault, commit, _known_to_user(repository, vault, base, there.tip))
    faults.point("publish.branch.before")
    _move(repository, branch, commit, old, vault.zero)
    faults.point("publish.branch.after")


def push(repository: Repository, branch: str, environment: Mapping[str, str], task: str) -> str:
    """Send a branch to the remote git would push to; with the user's own settings, credentials and hooks, as they set it."""
    remotes = repository.as_user(environment, "remote").stdout.decode().split()
    if not remotes:
        raise WorkspaceError(
            "There is no remote to push to.", f"Add one: git remote add origin URL; then: flyball resume {task}"
        )
    remote = "origin" if "origin" in remotes else remotes[0]
    done = repository.as_user(environment, "push", remote, f"refs/heads/{branch}:refs/heads/{branch}")
    if done.code != 0:
        said = done.complaint.splitlines()
        raise WorkspaceError(
            f"git push {remote} {branch} ended with code {done.code}: {said[-1] if said else 'it said nothing'}",
            f"Try it yourself: git push {remote} {branch}; then: flyball resume {task}",
        )
    return f"The branch was pushed to {remote}."


def check_name(repository: Repository, branch: str) -> None:
    if repository.git().run("check-ref-format", f"refs/heads/{branch}").code != 0:
        raise WorkspaceError(f"{branch} is not a valid branch name.", "Choose another name for the task.")


def check_branch(branch: str, there: BranchPlace, old: str | None) -> None:
    """Refuse a branch that is not at `old`, is in use, or cannot exist beside another."""
    if there.tip != old:
        raise WorkspaceError(
            f"The branch {branch} was expected {_place(old)} but is {_place(there.tip)}.",
            f"Keep your work under another name and try again: git branch -m {branch} {branch}-mine",
        )
    if there.used is not None:
        raise WorkspaceError(
            f"The branch {branch} is checked out in {there.used}; moving it would make that tree look changed.",
            f"Switch it to another branch and try again: git -C '{there.used}' switch --detach",
        )
    for other in there.in_the_way:
        raise WorkspaceError(
            f"The branch {branch} cannot exist beside the branch {other}.",
            f"Rename that one: git branch -m {other} {other}-old",
        )


def _place(commit: str | None) -> str:
    return f"at {commit[:12]}" if commit else "absent"


def _known_to_user(repository: Repository, vault: Vault, base: str, there: str | None) -> list[str]:
    """Commits the user's own store has, behind which nothing needs sending; a branch put there earlier begins at `base`."""
    if there is not None:
        return [base, there]
    store = Git(vault.git_dir, objects=repository.objects)
    if store.run("cat-file", "-e", base).code == 0:
        return [base]
    parents = vault.git().run("rev-parse", f"{base}^@")
    behind = parents.stdout.decode().split()
    if parents.code != 0 or any(store.run("cat-file", "-e", each).code != 0 for each in behind):
        raise _base_lost(vault, base)
    return behind


def _base_lost(vault: Vault, base: str) -> WorkspaceError:
    return WorkspaceError(
        f"The repository no longer holds {base[:12]}, from which the task started, nor what came before it.",
        "Every checkpoint is still in the vault; to write one out: "
        f"git --git-dir='{vault.git_dir}' archive CHECKPOINT | tar -x -C FOLDER",
    )


def _send(repository: Repository, vault: Vault, commit: str, known: list[str]) -> None:
    """Write the missing objects as one pack into the user's store, by the vault's settings and not by theirs."""
    shared = _shared_setting(repository)
    git = Git(
        vault.git_dir,
        objects=repository.objects,
        alternates=(vault.objects,),
        settings=(f"core.sharedRepository={shared}",) if shared else (),
    )
    wanted = "".join(f"{line}\n" for line in (commit, *(f"^{each}" for each in known)))
    pack = str(repository.objects / "pack" / "pack")
    Path(pack).parent.mkdir(exist_ok=True)
    git.out("pack-objects", "--revs", "--quiet", "--non-empty", pack, input=wanted.encode(), timeout=LONG)


@lru_cache(maxsize=8)
def _shared_setting(repository: Repository) -> str | None:
    """The user's core.sharedRepository, which says who may read what git writes. Nobody changes it while a task runs: it is asked once."""
    asked = repository.git().run("config", "core.sharedRepository")
    return asked.stdout.decode().strip() if asked.code == 0 else None


def _move(repository: Repository, branch: str, commit: str, old: str | None, zero: str) -> None:
    done = move_refs(repository.git(), [RefUpdate(f"refs/heads/{branch}", commit, old)], zero)
    if done.code == 0:
        return
    there = look(repository, branch).tip
    if there in (commit, old):
        raise failure(("update-ref", branch), done)
    raise WorkspaceError(
        f"The branch {branch} was moved meanwhile: it is {_place(there)}.", "Look at it, rename it, and try again."
    )


def merged_into(repository: Repository, vault: Vault, *, base: str, head: str, onto: str) -> str:
    """The branch that has what was done between `base` and `head`; empty where none has. `onto` is where the task started.

    The work is there when its commit is (a merge, a fast-forward), when the branch's commits have the same patches (a rebase), when one
    commit has the patch of all of them (a squash), or when every file the task changed stands there as the task left it.
    """
    if head == base or not repository.objects.is_dir():
        return ""
    git = vault.git()
    try:
        targets = _targets(repository, onto)
        for name, tip in targets.items():
            if git.run("merge-base", "--is-ancestor", head, tip).code == 0:
                return name
        paths = [each.path for each in changed_files(vault, base, head) if not each.path.startswith(f"{LOOP}/")]
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
    if not paths or len(paths) > _MOST_PATHS:
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
    options = ("--no-merges", "--no-renames", "--full-index", "--format=commit %H", f"--max-count={_MOST_COMMITS}")
    return git.out("log", "-p", *options, tip, f"^{base}", "--", *paths)


def _patches(git: Git, patches: bytes) -> set[str]:
    """The ids of patches, which do not depend on line numbers or white space; a patch without a commit has one, too."""
    lines = git.out("patch-id", "--stable", input=patches).splitlines()
    return {os.fsdecode(line.split()[0]) for line in lines if line}
