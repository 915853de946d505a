"""Makes a private index equal to a working tree, whatever an agent left there."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flyball.core.model.naming import LOOP
from flyball.process import Captured
from flyball.workspace.git import Git, failure, join_records, records
from flyball.workspace.ignored import Ignored, left_out
from flyball.workspace.repository import GITLINK

# Of a task's folder only the plan, the learnings and the report are committed (O3).
_COMMITTED = re.compile(r"(plan\.md|report\.(?:md|html)|learnings/.+)", re.DOTALL)
MANY = 100
_MOST_NOTES = 20


def stage(git: Git, task: str, ignored: Ignored) -> tuple[str, ...]:
    """Bring `git.index` in line with `git.work_tree`, but for what is `ignored`; sentences on what could not be saved.

    Of `.loop/` only what is committed of `task`'s own folder is looked at.
    """
    tree = git.work_tree
    assert tree is not None, "staging needs a work tree"
    notes: list[str] = []
    # Both only look, and each takes a git of its own: side by side they take the time of one.
    with ThreadPoolExecutor(max_workers=1) as beside:
        tracked = beside.submit(_tracked_changes, git)
        untracked = _untracked_files(git, "", ignored, notes)
        gone, changed = tracked.result()
    changed += untracked
    present, missing = _split(tree, [path for path in changed if not _belongs_to_loop(path)], notes)
    own = f"{LOOP}/{task}/"
    walked = () if (tree / LOOP).is_symlink() else _walk(tree, own.rstrip("/"), 2)
    kept = [path for path in walked if _is_committed(path, own)]
    notes += _in_submodules(git, tree)
    gone = [path for path in gone if not _belongs_to_loop(path) or _is_committed(path, own)]
    if gone or missing:
        git.out("update-index", "-z", "--force-remove", "--stdin", input=join_records([*gone, *missing]))
    if present or kept:
        notes += _add(git, [*present, *kept])
    return tuple(notes[:_MOST_NOTES])


def _add(git: Git, paths: list[str]) -> list[str]:
    # Each object of its own costs an fsync; of many files git makes one pack, as it does of large ones.
    packed = ("-c", "core.bigFileThreshold=1") if len(paths) > MANY else ()
    done = git.run(*packed, "update-index", "-z", "--add", "--replace", "--stdin", input=join_records(paths))
    if done.code != 0:
        raise failure(("update-index",), done)
    return [f"{path} has a name git refuses: not saved." for path in _complaints(done, "Ignoring path ")]


def _complaints(done: Captured, start: str) -> list[str]:
    lines = done.stderr.decode("utf-8", "backslashreplace").splitlines()
    return [line.removeprefix(start) for line in lines if line.startswith(start)]


def _tracked_changes(git: Git) -> tuple[list[str], list[str]]:
    fields = records(git.out("diff-files", "-z", "--raw", "--no-renames", "--ignore-submodules=all"))
    gone: list[str] = []
    changed: list[str] = []
    for header, path in zip(fields[::2], fields[1::2], strict=True):
        (gone if header.endswith("D") else changed).append(path)
    return gone, changed


def _untracked_files(git: Git, prefix: str, ignored: Ignored, notes: list[str]) -> list[str]:
    """Files not in the index and not ignored; those of a repository inside the tree, too.

    Git itself would record such a repository as a link to a commit that exists nowhere else, and lose the files.
    """
    done = git.run("ls-files", "-z", "-o", "--exclude-standard")
    if done.code != 0:
        raise failure(("ls-files", "-o"), done)
    notes += [f"{warning}: not saved." for warning in _complaints(done, "warning: ")]
    found = []
    free, held = ignored.split(prefix + path for path in records(done.stdout))
    notes += left_out(held)
    for path in free:
        if not path.endswith("/"):
            found.append(path)
            continue
        notes.append(f"{path} is a git repository of its own: its files are saved, its history is not.")
        assert git.work_tree is not None
        folder = git.work_tree / path.removeprefix(prefix)
        inner = Git(git.git_dir, work_tree=folder, index=git.git_dir / "no-index", excludes=git.excludes)
        found += _untracked_files(inner, path, ignored, notes)
    return found


def _split(tree: Path, paths: Iterable[str], notes: list[str]) -> tuple[list[str], list[str]]:
    """Which paths can be read now, and which are no longer files of a kind git can hold."""
    present, missing = [], []
    for path in paths:
        try:
            mode = os.lstat(tree / path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            missing.append(path)
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            missing.append(path)
            if not stat.S_ISDIR(mode):
                notes.append(f"{path} is neither a file nor a link: not saved.")
        elif stat.S_ISREG(mode) and not os.access(tree / path, os.R_OK):
            notes.append(f"{path} cannot be read: not saved.")
        else:
            present.append(path)
    return present, missing


def _in_submodules(git: Git, tree: Path) -> list[str]:
    """Git looks into no folder that its index calls a submodule, even if it is an ordinary one by now."""
    if not (tree / ".gitmodules").exists():
        return []
    listing = [entry.partition("\t") for entry in records(git.out("ls-files", "-s", "-z"))]
    links = [tree / path for head, _, path in listing if head.startswith(GITLINK)]
    filled = [link for link in links if link.is_dir() and not (link / ".git").exists() and any(link.iterdir())]
    return [f"{link.relative_to(tree)} is a submodule: the files put there are not saved." for link in filled]


def _belongs_to_loop(path: str) -> bool:
    return path == LOOP or path.startswith(LOOP + "/")


def _is_committed(path: str, own: str) -> bool:
    return path.startswith(own) and _COMMITTED.fullmatch(path, len(own)) is not None


def _walk(tree: Path, below: str, depth: int) -> Iterator[str]:
    try:
        entries = [] if (tree / below).is_symlink() else list(os.scandir(tree / below))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        path = f"{below}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if depth > 1 or "/learnings/" in path + "/":
                yield from _walk(tree, path, depth - 1)
        elif entry.is_symlink() or (entry.is_file() and os.access(entry.path, os.R_OK)):
            yield path
