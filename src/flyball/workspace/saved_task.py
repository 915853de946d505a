"""What a task has in the vault and in the user's repository: its checkpoints, their files, and its branch. No working tree is touched."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from flyball.core.claims.findings import Finding
from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit, TaskId
from flyball.workspace import merging, publish as publishing, quotations, trees
from flyball.workspace.checkpoint import (
    CommitAuthor,
    commit_tree,
    label_name,
    label_of,
    parent_of,
    refs_of,
    time_of,
)
from flyball.workspace.leftovers import Leftovers
from flyball.workspace.repository import LINK, Repository
from flyball.workspace.trees import Lines
from flyball.workspace.vault import RefUpdate, Vault

KEPT = "kept-"
"""How the labels begin of what was found in a tree that had to go back, and no checkpoint held."""


class SavedTask:
    """Checkpoints of one lane of a task by label, `tip`, `base` or id."""

    def __init__(
        self,
        repository: Repository,
        home: Path,
        task: TaskId,
        *,
        lane: str,
        author: CommitAuthor | None,
        environment: Mapping[str, str],
    ) -> None:
        self.repository = repository
        self.home = home.resolve()
        self.task = task
        self.name = lane
        self.branch = f"flyball/{task}"
        self.environment = environment
        self._author = author
        self._vault: Vault | None = None
        self._left: tuple[str, Leftovers] | None = None

    @property
    def vault(self) -> Vault:
        if self._vault is None:
            self._vault = Vault.open(self.home, self.repository)
        return self._vault

    @property
    def onto(self) -> str:
        """The user's branch that is checked out now; empty where none is."""
        return self.repository.branch or ""

    @property
    def base(self) -> Commit:
        return self._standing("base")

    @property
    def tip(self) -> Commit:
        """The newest checkpoint, or the one last restored."""
        return self._standing("tip")

    @property
    def checkpoints(self) -> dict[str, Commit]:
        known = self.vault.refs(f"{self._prefix}at/")
        return {label_of(name): Commit(commit) for name, commit in known.items()}

    def resolve(self, name: str) -> Commit:
        """The commit a label, `tip`, `base` or an id means."""
        return self._commit_of(name, self._refs())

    def _commit_of(self, name: str, known: Mapping[str, str]) -> Commit:
        return Commit(known.get(label_name(name)) or known.get(name) or self.vault.commit(name))

    def _standing(self, name: str) -> Commit:
        return Commit(self._refs().get(name) or self.vault.commit(self._prefix + name))

    @property
    def _prefix(self) -> str:
        """Where the lane's refs lie in the vault."""
        return refs_of(self.task, self.name)

    def _refs(self) -> dict[str, str]:
        """Where each of the lane's refs stands now, by the rest of its name."""
        return self.vault.refs(self._prefix)

    def _move(self, known: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """Move refs of the lane from where they are known to stand; one that is right already is left alone."""
        moves = {ref: commit for ref, commit in wanted.items() if known.get(ref) != commit}
        self.vault.move([RefUpdate(self._prefix + ref, commit, known.get(ref)) for ref, commit in moves.items()])

    def _fix_base(self, given: Commit | None, *, anew: bool) -> Commit:
        """Fix the starting point once: the user may move HEAD while the task runs. A lane that was closed gets a new one."""
        known = self._refs()
        if "base" in known and not anew:
            return Commit(known["base"])
        base: str = given or self.repository.require_commit()
        if given is None:
            publishing.check_name(self.repository, self.branch)
            publishing.check_branch(self.branch, publishing.look(self.repository, self.branch), None)
            self.vault.protect(base)
        left = known.get("tip", base)
        label = label_name(f"left-{left[:12]}")
        if left != base and label not in known:
            # What the lane that had this name before made stays in reach, whatever its labels come to name.
            self._move(known, {label: left})
        for ref in ("tip", "base"):
            self._move(known, {ref: base})
        return Commit(base)

    def _keep(self, tree: str) -> str:
        """Make a tree that is in no checkpoint one, beside the tip; the same tree gives the same one."""
        kept = {label: commit for label, commit in self.checkpoints.items() if label.startswith(KEPT)}
        again = next((label for label, commit in kept.items() if self.vault.tree(commit) == tree), None)
        if again is not None:
            return again
        tip, label = self._refs()["tip"], f"{KEPT}{len(kept) + 1}"
        message = "kept: what was in the tree before it went back"
        commit = commit_tree(self.vault, tree, tip, message=message, at=time_of(self.vault, tip))
        self.vault.move([RefUpdate(self._prefix + label_name(label), commit, None)])
        return label

    def _leftovers(self, known: Mapping[str, str] | None = None) -> Leftovers:
        commit = (self._refs() if known is None else known).get("setup")
        if commit is None:
            return Leftovers()
        if self._left is None or self._left[0] != commit:
            before = parent_of(self.vault, commit)
            assert before is not None
            self._left = commit, Leftovers.between(self.vault, self.vault.tree(before), self.vault.tree(commit))
        return self._left[1]

    def diff(self, old: str, new: str, paths: Sequence[str] = ()) -> bytes:
        return trees.diff(self.vault, old, new, paths)

    def changed_files(self, old: Commit, new: Commit) -> tuple[tuple[str, str], ...]:
        """Status and path of each file that differs; a moved file is one deleted and one added."""
        return tuple((each.status, each.path) for each in trees.changed_files(self.vault, old, new))

    def added_lines(self, old: Commit, new: Commit, path: str) -> tuple[tuple[int, int], ...]:
        """The spans of a file's lines that are new or changed: the first line of each, and how many."""
        return trees.added_lines(self.vault, old, new, path)

    def numstat(self, old: str, new: str) -> tuple[Lines, ...]:
        return trees.numstat(self.vault, old, new)

    def stands(
        self, finding: Finding, commit: Commit, shown: Mapping[str, Commit], prompt: str
    ) -> Literal["", "nowhere", "unchanged"]:
        """Whether what a finding quotes stands in `commit`, in one that was `shown` beside it or in the prompt, and it is about what is new since the one `seen`."""
        wanted = quotations.pieces(finding.quote)
        held = (quotations.is_held(self.vault, each, wanted) for each in dict.fromkeys((commit, *shown.values())))
        if wanted and not (quotations.stand_in(wanted, prompt) or any(held)):
            return "nowhere"
        seen, file, line = shown.get("seen"), finding.file, finding.line
        if seen and file and not quotations.is_change(self.vault, seen, commit, file, line, wanted):
            return "unchanged"
        return ""

    def read_file(self, commit: Commit, path: str) -> bytes | None:
        return trees.read_file(self.vault, commit, path)

    def list_files(self, commit: Commit) -> tuple[str, ...]:
        return trees.list_files(self.vault, commit)

    def links(self, commit: Commit) -> frozenset[str]:
        return frozenset(entry.path for entry in trees.entries(self.vault, commit) if entry.mode == LINK)

    def tree_of(self, commit: Commit) -> str:
        return self.vault.tree(commit)

    def overlay(
        self,
        commit: Commit,
        paths: Mapping[str, Commit | None],
        contents: Mapping[str, bytes] = MappingProxyType({}),
    ) -> str:
        """The tree of `commit` with each path as in the commit it is mapped to, or absent, or with the contents given for it."""
        return trees.overlay_tree(self.vault, commit, paths, contents)

    def integrate(
        self, commit: Commit, *, base: Commit, onto: Commit, message: str, at: datetime, without: tuple[str, ...] = ()
    ) -> Integrated | Conflicted | NothingToIntegrate:
        """Merge what `commit` changed since `base` into `onto`, as a commit on it; no branch and no file is touched."""
        merge = merging.Merge(commit, base, onto, f"lane-{self.name}", without)
        return merging.integrate(self.vault, merge, message=message, at=at, author=self._committer())

    def _committer(self) -> CommitAuthor:
        """Whose name the commits on the branch carry: the one that was set, or the user's own."""
        if self._author is None:
            name, email = self.repository.identity()
            self._author = CommitAuthor(name or CommitAuthor().name, email or CommitAuthor().email)
        return self._author

    def publish(self, commit: str) -> None:
        """Move the task's branch in the user's repository from where flyball last put it (at first: absent).

        What is about to be put there is written down first, so that a kill in between is not taken for the user's doing.
        """
        known = self._refs()
        published, intended = known.get("published"), known.get("publishing")
        there = publishing.look(self.repository, self.branch)
        old = intended if intended is not None and intended == there.tip else published
        self._move(known, {"publishing": commit})
        publishing.publish(self.repository, self.vault, commit, self.branch, there=there, old=old, base=known["base"])
        self._move(known, {"published": commit})

    def reclaim(self) -> str:
        """See that the branch may be moved from where flyball put it; one that was deleted is put back, and that is said."""
        known = self._refs()
        published, there = known.get("published"), publishing.look(self.repository, self.branch)
        if published is None or there.tip is not None:
            publishing.check_branch(self.branch, there, published)
            return ""
        publishing.publish(
            self.repository, self.vault, published, self.branch, there=there, old=None, base=known["base"]
        )
        return f"The branch {self.branch} had been deleted; flyball restored it at {published[:10]}."

    @property
    def is_published(self) -> bool:
        return publishing.look(self.repository, self.branch).tip is not None

    def merged_into(self, head: str, onto: str) -> str:
        """The user's branch that has what the task did up to `head`; empty where none has."""
        base = self._refs().get("base", "")
        return publishing.merged_into(self.repository, self.vault, base=base, head=head, onto=onto) if base else ""

    def push(self) -> str:
        """Send the branch to the user's remote, as they would; gives back a sentence on where it went."""
        return publishing.push(self.repository, self.branch, self.environment, self.task)
