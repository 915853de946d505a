"""Brings a branch into the one that is checked out, with the user's own git, settings and hooks; or changes nothing and says why.

Everything that can stand in the way is looked for first, so that a merge that begins nearly always ends. One that a hook refuses is undone by
the script that began it: it needs no flyball, which may have been killed meanwhile.
"""

import os
import shlex
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.model.naming import LOOP
from flyball.core.text.quantities import first_few
from flyball.core.text.scrubbing import decode
from flyball.workspace.files import folders_above
from flyball.workspace.git import program, records
from flyball.workspace.repository import Repository

_HOURS = 3600.0
"""Seconds for a merge: the user's hooks may run tests."""
_MERGE = """
git=$0 log=$1 tip=$2 tree=$3; shift 3
exec >"$log" 2>&1
"$git" merge "$@" && exit 0
if [ "$("$git" rev-parse -q --verify MERGE_HEAD)" = "$tip" ] || [ "$("$git" write-tree)" = "$tree" ]; then
    "$git" reset -q --merge
fi
exit 1
"""
"""Undoes only what this very merge made: its MERGE_HEAD, or an index that is exactly its result. Git's output goes to a file, since a
pipe that nobody reads any more would end it half way."""


class Obstacle(msgspec.Struct, frozen=True):
    """Why a branch was not merged, and what a person can type."""

    reason: str
    command: str


class UserMerge(msgspec.Struct, frozen=True):
    """The merge of `branch`, whose newest commit is `tip`; `onto` is the branch its task began from, `edited` are the user's documents
    that the task edits in their tree and that may therefore be changed there.
    """

    repository: Repository
    environment: Mapping[str, str]
    branch: str
    tip: str
    onto: str = ""
    edited: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether the branch that is checked out has all of it."""
        return self._git("merge-base", "--is-ancestor", self.tip, "HEAD").code == 0

    def perform(self) -> Obstacle | None:
        """Merge; what stood in the way, if anything did."""
        obstacle = self._unfit_place() or self._unclean_tree()
        if obstacle is not None:
            return obstacle
        found = self._git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "HEAD", self.tip)
        tree, *conflicting = records(found.stdout) or [""]
        if found.code == 1 and conflicting:
            return Obstacle(
                f"it conflicts with {self.repository.branch} in {first_few(conflicting, 5)}", self._command()
            )
        if found.code != 0:
            return Obstacle(f"git merge-tree: {found.complaint or 'it failed'}", self._command())
        in_the_way = self._files_in_the_way(tree)
        if in_the_way:
            moves = [shlex.join(["mv", name, f"{name}.mine"]) for name in in_the_way]
            message = f"it would overwrite files that git does not track: {first_few(in_the_way, 5)}"
            return Obstacle(message, " && ".join((*moves, self._command())))
        # In a thread of its own an interrupt of the main one does not end git half way.
        with ThreadPoolExecutor(max_workers=1) as beside:
            return beside.submit(self._merge, tree).result()

    def _unfit_place(self) -> Obstacle | None:
        repository = self.repository
        free = self._git("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{self.onto}").stdout == b"\n"
        back = f"git switch {shlex.quote(self.onto)} && " if self.onto and free else ""
        if repository.in_progress is not None:
            message = f"a {repository.in_progress} is in progress: finish it, or give it up with git {repository.in_progress} --abort"
            return Obstacle(message, self._command())
        if repository.branch is None:
            return Obstacle("no branch is checked out (detached HEAD)", f"{back}{self._command()}")
        if repository.branch == self.branch:
            return Obstacle("it is the branch that is checked out", f"{back}{self._command()}")
        return None

    def _unclean_tree(self) -> Obstacle | None:
        status = self._git(
            "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=untracked"
        )
        if status.code != 0:
            return Obstacle(f"git status: {status.complaint}", self._command())
        changed = [(line[:2], line[3:]) for line in records(status.stdout)]
        own = tuple(f"{name}/" for name in self.edited)
        dirty = [path for code, path in changed if code[0] != " " or not f"{path}/".startswith(own)]
        if not dirty:
            return None
        return Obstacle(
            f"the tree has uncommitted changes: {first_few(dirty, 5)}",
            f"git stash && {self._command()} && git stash pop",
        )

    def _files_in_the_way(self, tree: str) -> list[str]:
        """What git does not track and lies where the merge puts a file. Git itself would write over what is ignored."""
        new = records(self._git("diff-tree", "-r", "-z", "--name-only", "--diff-filter=A", "HEAD", tree).stdout)
        wanted = [path for path in new if not path.startswith(f"{LOOP}/")]
        tracked = set(records(self._git("ls-files", "-z").stdout)) if wanted else set()
        above = {step for path in tracked for step in folders_above(path)}
        found: dict[str, None] = {}
        for path in wanted:
            place = self.repository.root / path
            if os.path.lexists(place) and path not in above:
                found[path] = None
            for step in folders_above(path):
                folder = self.repository.root / step
                if step not in tracked and os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
                    found[step] = None
        return list(found)

    def _merge(self, tree: str) -> Obstacle | None:
        # A person's settings may ask for a merge commit, but not for no merge at all: `only`, --squash, --no-commit.
        wanted = self._git("config", "--type=bool-or-str", "merge.ff").stdout.strip()
        how = "--no-ff" if wanted == b"false" else "--ff"
        options = ("--quiet", "--no-edit", "--commit", "--no-squash", how, self.branch)
        with tempfile.TemporaryDirectory(prefix="flyball-") as folder:
            log = Path(folder, "log")
            done = process.capture(
                ["/bin/sh", "-c", _MERGE, program(), str(log), self.tip, tree, *options],
                cwd=self.repository.root,
                env=self.repository.users_environment(self.environment),
                timeout=_HOURS,
            )
            lines = decode(log.read_bytes()).split("\n") if log.exists() else [done.complaint]
        if done.code == 0:
            return None
        words = " ".join(line.strip() for line in lines if line.strip())[-500:]
        return Obstacle(f"git merge failed: {words or 'it said nothing'}", self._command())

    def _command(self) -> str:
        return f"git merge {shlex.quote(self.branch)}"

    def _git(self, *args: str) -> process.Captured:
        return self.repository.as_user(self.environment, *args)
