"""Renders a task's files into `.loop/NNN-slug/`: whole or not at all, and never over what a person wrote there.

What was rendered last is known by hash, kept outside the repository. A file that is neither that nor what is to be
written was edited: it is renamed to `NAME.edited-N` and told. Nothing here is durable on purpose: `.loop/` can be rendered
again from the journal, so a file costs a rename and no fsync. No symbolic link is followed, since agents can plant them.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec

from flyball import faults
from flyball.core.model.naming import LOOP, next_number, parse_task_id
from flyball.core.model.task import TaskId
from flyball.core.text.quantities import first_few
from flyball.documents import open_folder
from flyball.documents.errors import DocumentError, LoopFolderUnwritable

MONITOR_PAGE = "loop-state.md"
TASK_PAGE = "loop-state.json"
IGNORED = """\
# Rendered by flyball. A task's branch may bring its plan, learnings and report (ship.loop_files); ignored here, they do not
# stand in the way of merging it.
*
"""
_GIT_IGNORE = ".gitignore"
_CLUTTER = frozenset({_GIT_IGNORE, f".{_GIT_IGNORE}.new", ".DS_Store", "Thumbs.db"})
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# More than the last one, since a kill may come before a file that is remembered was written.
_REMEMBERED = 8
_LONGEST_ENTRY = 8192


class KeptAside(msgspec.Struct, frozen=True):
    """A file edited on disk, as paths below the tree: where it was, and where it is now."""

    path: str
    kept_as: str

    @property
    def sentence(self) -> str:
        return f"{self.path} was changed on disk; flyball renders it, so your version is kept as {self.kept_as}"


def highest_number(tree: Path) -> int:
    """The highest number any entry of `.loop/` begins with; 0 where there is none."""
    try:
        return next_number(entry.name for entry in (tree / LOOP).iterdir()) - 1
    except (FileNotFoundError, NotADirectoryError):
        return 0


def rendered_tasks(tree: Path) -> set[str]:
    """The tasks that were worked on here: what a merged branch brings, or a loop that is only watched, has no such page."""
    pages = (tree / LOOP).glob(f"*/{TASK_PAGE}")
    return {page.parent.name for page in pages if parse_task_id(page.parent.name) is not None}


def check_foreign(tree: Path) -> None:
    """Refuse to start where `.loop` holds what flyball did not put there; nothing is written."""
    folder = tree / LOOP
    try:
        mode = folder.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise _foreign(folder)
    with os.scandir(folder) as entries:
        strange = sorted(entry.name for entry in entries if not _is_ours(entry))
    if strange:
        raise DocumentError(
            f"{folder} holds {first_few(strange)}; expected only folders of tasks, such as 001-add-login. "
            "Move it elsewhere and try again."
        )


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if entry.name in _CLUTTER:
        return entry.is_file(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False):
        return False
    if parse_task_id(entry.name) is not None:
        return True
    # The folder of a loop that others drive has any name, and nothing in it but its page.
    names = [path.name for path in Path(entry.path).iterdir()]
    return MONITOR_PAGE in names and all(name.removeprefix(".").startswith(MONITOR_PAGE) for name in names)


def _foreign(path: Path) -> DocumentError:
    kind = "a symbolic link" if path.is_symlink() else "not a folder"
    return DocumentError(f"{path} is {kind}; expected a folder of flyball's own. Move it elsewhere and try again.")


class LoopFolder(msgspec.Struct):
    """The folder of one task below `tree`; `memory` is a file outside the tree. One process renders at a time.

    In a `shared` tree an agent works, too: what it put in the place of a folder is replaced. What is `tracked`, as
    the report of a merged branch is, is the user's and is left alone.
    """

    tree: Path
    task: TaskId
    memory: Path
    shared: bool = False
    tracked: Callable[[], Collection[str]] = tuple
    _hashes: dict[str, list[str]] | None = None

    @property
    def path(self) -> Path:
        return self.tree / LOOP / self.task

    def render(self, files: Mapping[str, str]) -> tuple[KeptAside, ...]:
        """Make each file, named by its path below the task's folder, hold its text; tells what was kept aside."""
        tracked = self.tracked()
        wanted = {name: text.encode() for name, text in files.items() if self._tree_path(name) not in tracked}
        kept: list[KeptAside] = []
        with self._explain_errors():
            self._remember(wanted)
            for name, raw in wanted.items():
                path = PurePosixPath(name)
                with self._folder(path.parent) as folder:
                    if open_folder.content(folder, path.name) == raw:
                        continue
                    aside = open_folder.replace(folder, path.name, raw, partial(self._is_rendered, name))
                if aside:
                    kept.append(KeptAside(self._tree_path(name), self._tree_path(str(path.with_name(aside)))))
        return tuple(kept)

    def put(self, name: str, text: str) -> None:
        """Make a file hold a text, whatever stands in its place: for a tree in which nobody but agents works."""
        with self._explain_errors(), self._folder(PurePosixPath(name).parent) as folder:
            open_folder.replace(folder, PurePosixPath(name).name, text.encode(), lambda _found: True)

    def append(self, name: str, entry: str, *, whole: Callable[[], str] | None = None) -> None:
        """Add an entry to a log, unless it is its last already; `whole` gives a log that was deleted."""
        if self._tree_path(name) in self.tracked():
            return
        path, raw = PurePosixPath(name), entry.encode()
        with (
            self._explain_errors(),
            self._folder(path.parent) as folder,
            os.fdopen(_open_log(folder, path.name, whole), "ab+") as file,
        ):
            file.seek(max(0, file.seek(0, os.SEEK_END) - len(raw)))
            if file.read() != raw:
                faults.point("loop.append.before")
                file.write(raw)
        faults.point("loop.append.after")

    def _tree_path(self, name: str) -> str:
        """A file by its path below the tree, as git knows it."""
        return f"{LOOP}/{self.task}/{name}"

    def end_of(self, name: str) -> str:
        """The last lines of a log, about as many as an entry has; nothing where there is none."""
        path = PurePosixPath(name)
        with self._explain_errors(), self._folder(path.parent) as folder:
            raw = open_folder.content(folder, path.name) or b""
        return raw[-_LONGEST_ENTRY:].decode(errors="replace")

    def _is_rendered(self, name: str, current: bytes | None) -> bool:
        """Whether a file is flyball's own; so is an empty one, which a power cut may leave and nobody would miss."""
        if current == b"":
            return True
        return current is not None and hashlib.sha256(current).hexdigest() in self._rendered_hashes().get(name, [])

    def _rendered_hashes(self) -> dict[str, list[str]]:
        """The hashes of what was rendered, the last one last, by name."""
        if self._hashes is None:
            self._hashes = {}
            # Without a memory that can be read, any file that differs counts as edited, and is kept.
            with suppress(FileNotFoundError, msgspec.DecodeError):
                self._hashes = msgspec.json.decode(self.memory.read_bytes(), type=dict[str, list[str]])
        return self._hashes

    def _remember(self, wanted: Mapping[str, bytes]) -> None:
        """Write down what will be written, where it is not what was written last."""
        known = self._rendered_hashes()
        hashes = {name: hashlib.sha256(raw).hexdigest() for name, raw in wanted.items()}
        new = {name: digest for name, digest in hashes.items() if known.get(name, [""])[-1] != digest}
        if new:
            for name, digest in new.items():
                known[name] = [*known.get(name, []), digest][-_REMEMBERED:]
            faults.point("loop.memory.before")
            self.memory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self.memory.with_name(f"{self.memory.name}.new")
            fresh.write_bytes(msgspec.json.encode(known))
            faults.point("loop.memory.inside")
            fresh.replace(self.memory)
            faults.point("loop.memory.after")

    @contextmanager
    def _folder(self, parent: PurePosixPath) -> Iterator[int]:
        steps = (LOOP, self.task, *parent.parts)
        assert not {"/", ".."} & set(steps), f"{parent} leads out of the folder"
        descriptor = os.open(self.tree, _DIRECTORY & ~os.O_NOFOLLOW)
        try:
            for depth, step in enumerate(steps, start=1):
                below = self._enter(descriptor, steps[:depth])
                os.close(descriptor)
                descriptor = below
                if step is LOOP and open_folder.status_of(descriptor, _GIT_IGNORE) is None:
                    _begin(descriptor, _GIT_IGNORE, IGNORED.encode())
            yield descriptor
        finally:
            os.close(descriptor)

    def _enter(self, above: int, steps: tuple[str, ...]) -> int:
        name = steps[-1]
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
        try:
            return os.open(name, _DIRECTORY, dir_fd=above)
        except NotADirectoryError as error:
            if not self.shared:
                raise _foreign(Path(self.tree, *steps)) from error
        os.unlink(name, dir_fd=above)
        os.mkdir(name, dir_fd=above)
        return os.open(name, _DIRECTORY, dir_fd=above)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LoopFolderUnwritable(
                f"{self.path} could not be written ({error.strerror}). Make it writable or free some space; "
                f"then continue with: flyball resume {self.task}"
            ) from error


def _open_log(folder: int, name: str, whole: Callable[[], str] | None) -> int:
    status = open_folder.status_of(folder, name)
    if status is not None and (not stat.S_ISREG(status.st_mode) or status.st_nlink > 1):
        open_folder.rename_aside(folder, name)
        status = None
    if status is None:
        _begin(folder, name, whole().encode() if whole else b"")
    return os.open(name, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)


def _begin(folder: int, name: str, raw: bytes) -> None:
    """Put a file in a free place; what is there all the same may go if it is the beginning of the file, as a kill leaves it."""
    open_folder.replace(folder, name, raw, lambda found: found is not None and raw.startswith(found))
