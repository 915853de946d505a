"""What flyball needs to know of the user's repository, read without executing anything it configures."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from flyball import process
from flyball.core.model.naming import LOOP
from flyball.folders import BYTE_CODE, CACHES
from flyball.workspace import git as git_program
from flyball.workspace.errors import DamagedRepository, NotARepository, WorkspaceError
from flyball.workspace.git import Git, environment, program, quote_path, records

GITLINK = "160000"
LINK = "120000"
LEAVINGS = b".aider.tags.cache.*/\n"
"""What an agent keeps for itself in the tree it works in, and cannot be told to keep elsewhere; no work of anybody's."""
CACHED = "".join(f"{name}\n" for name in (*(f"{folder}/" for folder in sorted(CACHES)), *BYTE_CODE)).encode()
INSTALLED = b".venv\nnode_modules\n"
"""Dependencies that set-up installs or an agent links into the tree, ignored by the project or not; what is tracked stays so."""
_WHOLE = ("--directory", "--no-empty-directory")
_MARKS = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick"),
)


class Repository(msgspec.Struct, frozen=True):
    root: Path
    git_dir: Path
    common_dir: Path
    head: str | None
    branch: str | None
    object_format: str
    in_progress: str | None
    damage: str = ""
    """Why HEAD has no commit though it should have one, in git's words."""

    @classmethod
    def find(cls, start: Path) -> "Repository":
        git_program.version()
        git_dir, bare, inside, object_format = _find_git_dir(start)
        if bare:
            raise WorkspaceError(f"{git_dir} is a bare repository: it has no working tree.", "Clone it and run there.")
        if not inside:
            raise NotARepository(f"{start} lies inside a git folder, not in a working tree.", "Change to the project.")
        root = Path(_line(start, "--show-toplevel"))
        _check_owner(root, git_dir)
        store = Git(git_dir)
        named = store.run("symbolic-ref", "--quiet", "--short", "HEAD")
        head = store.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return cls(
            root=root,
            git_dir=git_dir,
            common_dir=Path(_line(start, "--path-format=absolute", "--git-common-dir")),
            head=head.stdout.decode().strip() or None,
            branch=os.fsdecode(named.stdout.removesuffix(b"\n")) if named.code == 0 else None,
            object_format=object_format,
            in_progress=next((word for mark, word in _MARKS if (git_dir / mark).exists()), None),
            damage="" if head.stdout else _damage(store),
        )

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    def git(self) -> Git:
        """Git on the user's own git dir: for reading and for moving the task's branch, never with a work tree."""
        return Git(self.common_dir)

    def require_commit(self) -> str:
        if self.damage:
            raise damaged_repository(self.root, self.damage)
        if self.head is None:
            raise WorkspaceError(
                f"{self.root} has no commit to start from.",
                'Make one first: git add -A && git commit --allow-empty -m "Start"',
            )
        return self.head

    def committed_file(self, path: str, most: int) -> bytes | None:
        """The first bytes of a regular file as HEAD has it, filtered by nothing; None where HEAD has no such file."""
        entry = self.git().run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", self.require_commit(), "--", path)
        mode, _, rest = entry.stdout.decode("utf-8", "replace").partition(" ")
        if mode not in {"100644", "100755"}:
            return None
        return self.git().run("cat-file", "blob", rest.partition(" ")[2].partition("\t")[0], most=most).stdout

    def uncommitted_files(self) -> list[str]:
        """The files that differ from HEAD in the user's working tree and index, which stay as they are.

        The user's own git could run their clean filters here, so a borrowed git dir and a copy of the index are asked
        instead. Filtered files whose times changed count as changed: the answer errs towards dirty.
        """
        with self.lens() as git:
            not_as_indexed = ("diff-files", "-z", "--name-only", "--ignore-submodules=all")
            changed = set(records(git.out(*not_as_indexed)))
            if changed:
                # A copied repository, or a file saved unchanged, differs in its times alone.
                git.run("update-index", "-q", "--refresh", "--ignore-submodules")
                changed = set(records(git.out(*not_as_indexed)))
            changed.update(records(git.out("ls-files", "-z", "-o", "--exclude-standard", *_WHOLE)))
            if self.head is not None:
                staged = git.out("diff-index", "-z", "--cached", "--name-only", "--ignore-submodules=all", self.head)
                changed.update(records(staged))
            else:
                changed.update(records(git.out("ls-files", "-z")))
        return sorted(name for name in changed if name != LOOP and not name.startswith(f"{LOOP}/"))

    def excludes(self) -> bytes:
        """Ignore rules that stand in no .gitignore: the user's global file, this repository's info/exclude, and our own."""
        asked = _as_person(self.git_dir, "config", "--type=path", "core.excludesFile")
        told = os.fsdecode(asked.stdout.removesuffix(b"\n"))
        personal = self.root / told if asked.code == 0 and told else Path("~/.config/git/ignore").expanduser()
        rules = [LEAVINGS, CACHED, INSTALLED]
        for path in (personal, self.common_dir / "info" / "exclude"):
            with suppress(OSError):
                rules.append(path.read_bytes() + b"\n")
        return b"\n".join(rules)

    def identity(self) -> tuple[str, str]:
        """The name and address the user commits with, as their git settings say; empty where they say nothing."""
        name, email = (_as_person(self.git_dir, "config", f"user.{key}").stdout for key in ("name", "email"))
        return os.fsdecode(name).strip(), os.fsdecode(email).strip()

    def tracked_files(self, folder: str) -> frozenset[str]:
        """The files below a folder that the user's index holds."""
        asked = Git(self.git_dir).run("ls-files", "-z", "--", folder)
        return frozenset(records(asked.stdout)) if asked.code == 0 else frozenset()

    def as_user(self, environment: Mapping[str, str], *args: str) -> process.Captured:
        """Run git as the user would, with all their settings: only for what they asked flyball to do in their name."""
        env = self.users_environment(environment)
        return process.capture([program(), *args], cwd=self.root, env=env, timeout=git_program.LONG)

    @staticmethod
    def users_environment(environment: Mapping[str, str]) -> dict[str, str]:
        """A person's variables without those that would lead git elsewhere, and nobody is asked for a password."""
        return {name: value for name, value in environment.items() if not name.startswith("GIT_")} | {
            "GIT_TERMINAL_PROMPT": "0"
        }

    @contextmanager
    def lens(self) -> Iterator[Git]:
        """Git on the user's tree with a git dir and an index of its own, which may be changed at will."""
        with tempfile.TemporaryDirectory(prefix="flyball-") as folder:
            git_dir = Path(folder) / "lens.git"
            bare_git_dir(git_dir, self.object_format, self.objects)
            excludes = Path(folder) / "excludes"
            excludes.write_bytes(self.excludes())
            index = git_dir / "index"
            if (self.git_dir / "index").exists():
                shutil.copy2(self.git_dir / "index", index)
            for shared in self.git_dir.glob("sharedindex.*"):
                shutil.copy2(shared, git_dir)
            yield Git(git_dir, work_tree=self.root, index=index, excludes=excludes)


def bare_git_dir(folder: Path, object_format: str, *stores: Path) -> None:
    """Make an empty git dir that reads objects of `stores`; plain files, since `git init` would copy templates."""
    (folder / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (folder / "objects" / "pack").mkdir(exist_ok=True)
    (folder / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (folder / "info").mkdir(exist_ok=True)
    extension = f"[extensions]\n\tobjectFormat = {object_format}\n" if object_format != "sha1" else ""
    format_version = 1 if extension else 0
    (folder / "config").write_text(f"[core]\n\trepositoryformatversion = {format_version}\n\tbare = true\n{extension}")
    (folder / "objects" / "info" / "alternates").write_text("".join(_alternate(store) + "\n" for store in stores))
    (folder / "HEAD").write_text("ref: refs/heads/none\n")


def _alternate(store: Path) -> str:
    """A path in a list of alternates, plain where it can be: other readers of git's files than git know no quotes."""
    plain = str(store)
    return plain if plain.startswith("/") and plain.isascii() and plain.isprintable() else quote_path(store)


def _discover(start: Path, *args: str) -> process.Captured:
    """Git's own search for the repository a folder lies in."""
    settings = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"]
    return process.capture([program(), *settings, "rev-parse", *args], cwd=start, env=environment())


def _line(start: Path, *args: str) -> str:
    done = _discover(start, *args)
    if done.code != 0:
        raise git_program.failure(("rev-parse", *args), done)
    return os.fsdecode(done.stdout.removesuffix(b"\n"))


def _find_git_dir(start: Path) -> tuple[Path, bool, bool, str]:
    """The git dir, whether it is bare, whether the folder is in its working tree, and the format of its objects.

    The path comes last, for it may hold a line's end; each path more is a call of its own.
    """
    if not start.is_dir():
        raise NotARepository(f"There is no folder {start}.", "Change to your project's folder and try again.")
    done = _discover(
        start, "--is-bare-repository", "--is-inside-work-tree", "--show-object-format", "--absolute-git-dir"
    )
    if done.code == 0:
        bare, inside, object_format, git_dir = os.fsdecode(done.stdout.removesuffix(b"\n")).split("\n", 3)
        return Path(git_dir), bare == "true", inside == "true", object_format
    place = _folder_with_git(start.absolute())
    if place is not None:
        raise damaged_repository(place, done.complaint)
    raise NotARepository(
        f"{start} is not in a git repository.",
        'Change into your project\'s folder. If it is no repository yet: git init && git add -A && git commit -m "Start"',
    )


def damaged_repository(place: Path, said: str) -> DamagedRepository:
    """The refusal of a repository that git cannot use; to make a new one in its place could lose what is left."""
    words = " ".join(said.split()) or "it said nothing"
    return DamagedRepository(f"The git repository at {place} is damaged: git says: {words}.", "Look into it: git fsck")


def _folder_with_git(start: Path) -> Path | None:
    """The nearest folder with a `.git`, on the disk git would search."""
    try:
        disk = start.stat().st_dev
        near = [folder for folder in (start, *start.parents) if folder.stat().st_dev == disk]
    except OSError:
        return None
    return next((folder for folder in near if os.path.lexists(folder / ".git")), None)


def _damage(store: Git) -> str:
    """What git says of a HEAD without a commit; nothing of a branch that has none yet."""
    named = store.run("symbolic-ref", "--quiet", "HEAD")
    branch = os.fsdecode(named.stdout.removesuffix(b"\n"))
    asked = store.run("for-each-ref", branch) if named.code == 0 else store.run("cat-file", "-t", "HEAD")
    return asked.complaint


def _check_owner(root: Path, git_dir: Path) -> None:
    """Git's own rule: a repository of somebody else counts only if the person declared it safe."""
    me = os.geteuid()
    if all(path.lstat().st_uid == me for path in (root, git_dir)):
        return
    done = _as_person(None, "config", "--global", "-z", "--type=path", "--get-all", "safe.directory")
    declared = records(done.stdout)
    if "*" in declared or str(root) in declared:
        return
    raise WorkspaceError(
        f"{root} belongs to another user, so its settings cannot be trusted.",
        f"If you trust it: git config --global --add safe.directory '{root}'",
    )


def _as_person(git_dir: Path | None, *args: str) -> process.Captured:
    """Read the person's own git settings; reading settings executes nothing."""
    env = environment({"HOME": str(Path("~").expanduser())})
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        env.pop(name)
    where = [f"--git-dir={git_dir}"] if git_dir is not None else []
    return process.capture([program(), *where, *args], cwd=Path("/"), env=env)
