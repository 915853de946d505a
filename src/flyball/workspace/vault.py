"""The vault: a git dir of flyball's own, out of an agent's reach, that every checkpoint is written to directly."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from flyball import faults, process
from flyball.workspace.errors import GitFailed, UnknownCommit
from flyball.workspace.files import write_file
from flyball.workspace.git import LONG, Git, failure, quote_path
from flyball.workspace.repository import Repository, bare_git_dir

# The highest word on attributes: whatever a .gitattributes says, bytes go in and out unchanged, no filter program is
# looked up, and no file can hide from a diff by calling itself binary.
_ATTRIBUTES = b"* -text !eol -ident -filter -working-tree-encoding !diff !merge !export-ignore !export-subst\n"
_AS_CLONED = b"* -filter\n"
_CLONED = "cloned.git"
_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class RefUpdate(msgspec.Struct, frozen=True):
    """Move `ref` to `new` if it stands at `old`; None as `old` means it must not exist yet."""

    ref: str
    new: str
    old: str | None


def move_refs(git: Git, updates: Sequence[RefUpdate], zero: str) -> process.Captured:
    """Move refs in one transaction, past the locks of a killed git.

    Git waits two seconds for a lock. Only one controller works on a task and these refs are the task's own, so a lock
    that is still there then belongs to nobody.
    """
    lines = "".join(f"update {each.ref}\0{each.new}\0{each.old or zero}\0" for each in updates).encode()
    done = git.run("update-ref", "--no-deref", "-z", "--stdin", input=lines)
    locks = [git.git_dir / f"{each.ref}.lock" for each in updates]
    if done.code != 0 and any(lock.exists() for lock in locks):
        for lock in locks:
            lock.unlink(missing_ok=True)
        done = git.run("update-ref", "--no-deref", "-z", "--stdin", input=lines)
    return done


class Vault(msgspec.Struct, frozen=True):
    git_dir: Path
    object_format: str

    @classmethod
    def open(cls, home: Path, repository: Repository) -> "Vault":
        """The vault in `home`, made if there is none; reading falls through to the user's object store."""
        name = "vault.git" if repository.object_format == "sha1" else f"vault-{repository.object_format}.git"
        folder = home / name
        for git_dir, attributes in ((folder, _ATTRIBUTES), (folder / _CLONED, _AS_CLONED)):
            if not (git_dir / "info" / "attributes").exists():
                bare_git_dir(git_dir, repository.object_format)
                write_file(git_dir / "info" / "attributes", attributes)
        alternates = folder / "objects" / "info" / "alternates"
        known = alternates.read_bytes() if alternates.exists() else b""
        line = quote_path(repository.objects).encode() + b"\n"
        if line not in known.splitlines(keepends=True):
            write_file(alternates, known + line)
        return cls(folder, repository.object_format)

    @property
    def objects(self) -> Path:
        return self.git_dir / "objects"

    @property
    def zero(self) -> str:
        return "0" * (40 if self.object_format == "sha1" else 64)

    def git(self, work_tree: Path | None = None, index: Path | None = None, excludes: Path | None = None) -> Git:
        return Git(self.git_dir, work_tree=work_tree, index=index, excludes=excludes)

    def git_as_cloned(self, work_tree: Path, index: Path) -> Git:
        """Git that converts files as it would in a clone of the repository (line ends, $Id$, encodings); no filter runs."""
        return Git(self.git_dir / _CLONED, work_tree=work_tree, index=index, objects=self.objects)

    def protect(self, commit: str) -> None:
        """Copy a commit with its whole tree into the vault, so that it outlives the user's .git.

        Only this one tree is copied, not the history behind it: restoring a checkpoint needs no more, the cost is that
        of one checkout however long the history is, and trees protected before are not copied again.
        """
        ref = f"refs/flyball/bases/{commit}"
        if self.ref(ref) is not None:
            return
        known = [f"--keep-pack={path.name}" for path in (self.objects / "pack").glob("*.pack")]
        # Naming the commit shallow ends the walk at it; without the search for deltas a big tree is copied, not studied.
        wanted = f"--shallow {commit}\n{commit}\n"
        options = ("--revs", "--quiet", "--non-empty", "--window=0", *known)
        pack = str(self.objects / "pack" / "pack")
        faults.point("vault.protect.before")
        self.git().out("pack-objects", *options, pack, input=wanted.encode(), timeout=LONG)
        faults.point("vault.protect.after")
        try:
            self.move([RefUpdate(ref, commit, None)])
        except GitFailed:
            # Another task of the same commit may have been as far a moment before.
            if self.ref(ref) != commit:
                raise

    def ref(self, name: str) -> str | None:
        done = self.git().run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return done.stdout.decode().strip() or None

    def refs(self, prefix: str) -> dict[str, str]:
        """All refs below `prefix`, which ends with a slash, by the rest of their name."""
        lines = self.git().out("for-each-ref", "--format=%(objectname) %(refname)", prefix).decode().splitlines()
        return {name.removeprefix(prefix): commit for commit, _, name in (line.partition(" ") for line in lines)}

    def move(self, updates: Iterable[RefUpdate]) -> None:
        """Move refs, each only from where it is said to stand; none if one is elsewhere. A kill may leave the first moved."""
        wanted = list(updates)
        if not wanted:
            return
        faults.point("vault.refs.before")
        done = move_refs(self.git(), wanted, self.zero)
        if done.code != 0:
            raise failure(("update-ref", *(each.ref for each in wanted)), done)
        faults.point("vault.refs.after")

    def write(self, content: bytes) -> str:
        """Keep bytes as a blob; gives back its id."""
        return self.git().line("hash-object", "-w", "--stdin", input=content)

    def commit(self, name: str) -> str:
        """The full id of a commit that is in reach."""
        return self._id(name, "commit")

    def tree(self, name: str) -> str:
        """The id of the tree of a commit, or of a tree."""
        return self._id(name, "tree")

    def require(self, *names: str) -> None:
        for name in names:
            self.tree(name)

    def remember_tree(self, commit: str, tree: str) -> None:
        """Spare two questions: this commit was just made of that tree."""
        for name in (commit, tree):
            _remember((self.git_dir, name, "tree"), tree)

    def _id(self, name: str, kind: str) -> str:
        """What a full id stands for never changes and is asked once; any other name may come to mean something else."""
        known = _KNOWN.get((self.git_dir, name, kind))
        if known is not None:
            return known
        found = self.ref(f"{name}^{{{kind}}}")
        if found is None:
            what = "commit" if kind == "commit" else "commit or tree"
            raise UnknownCommit(f"There is no {what} {name} in the vault.", "See: flyball checkpoints TASK")
        if _FULL_ID.fullmatch(name):
            _remember((self.git_dir, name, kind), found)
        return found


_KNOWN: dict[tuple[Path, str, str], str] = {}
_MOST_KNOWN = 10_000


def _remember(question: tuple[Path, str, str], found: str) -> None:
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[question] = found
