"""The only door to the git program: own environment, own settings, nothing a repository names is executed.

Git run where an agent can write executes what the agent put there (fsmonitor, hooks, filters, external diffs). Every
call here names its git dir, clears the environment and overrides each setting that could start a program.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from flyball import process
from flyball.workspace.errors import GitFailed, WorkspaceError

OLDEST_GIT = (2, 38)  # the first with `merge-tree --write-tree`
LONG = 3600.0

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=true",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "protocol.allow=never",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # All but the index, which is a cache of flyball's own here: one that a power cut tears is made anew. Named one by one,
    # because what `all` names cannot be taken out again.
    "core.fsync=loose-object,pack,pack-metadata,commit-graph,reference",
    "core.fsyncMethod=fsync",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.symlinks=true",
    "core.fileMode=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.quotePath=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    "core.useReplaceRefs=false",
    "core.logAllRefUpdates=false",
    "core.filesRefLockTimeout=2000",
    "i18n.commitEncoding=utf-8",
    "diff.renameLimit=2000",
    # Ownership is checked once, in Repository.find, against the person's own safe.directory.
    "safe.directory=*",
)


@lru_cache(maxsize=1)
def program() -> str:
    found = shutil.which("git")
    if found is None:
        raise WorkspaceError("The program git was not found.", "Install it, for example with: apt install git")
    return found


@lru_cache(maxsize=1)
def version() -> tuple[int, ...]:
    """The installed git's version, refused if too old for durable checkpoints."""
    done = process.capture([program(), "--version"], cwd=Path("/"), env=environment())
    words = done.stdout.decode("ascii", "replace").split()
    numbers = tuple(int(part) for part in words[2].split(".")[:2] if part.isdigit()) if len(words) > 2 else ()
    if numbers < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        raise WorkspaceError(
            f"Git {words[2] if len(words) > 2 else '?'} is older than {wanted}.", "Install a newer git."
        )
    return numbers


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git call; nothing is inherited."""
    own = {
        "PATH": f"{Path(program()).parent}{os.pathsep}{os.defpath}",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    return own | dict(extra or {})


class Git(msgspec.Struct, frozen=True):
    """One git dir, with the work tree, index and object store its calls use."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None
    alternates: tuple[Path, ...] = ()
    excludes: Path | None = None
    settings: tuple[str, ...] = ()

    def run(
        self,
        *args: str,
        input: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 600.0,
        most: int | None = None,
    ) -> process.Captured:
        """Run one git command and give back whatever it said, but no more than so many bytes."""
        argv = [program(), f"--git-dir={self.git_dir}"]
        if self.work_tree is not None:
            argv.append(f"--work-tree={self.work_tree}")
        for setting in (*_SETTINGS, f"core.excludesFile={self.excludes or '/dev/null'}", *self.settings):
            argv += ["-c", setting]
        return process.capture(
            [*argv, *args],
            cwd=self.work_tree or self.git_dir,
            env=environment(self._places() | dict(env or {})),
            input=input,
            timeout=timeout,
            most=most,
        )

    def out(
        self, *args: str, input: bytes = b"", env: Mapping[str, str] | None = None, timeout: float = 600.0
    ) -> bytes:
        """Run one git command that must succeed; its standard output."""
        done = self.run(*args, input=input, env=env, timeout=timeout)
        if done.code != 0:
            raise failure(args, done)
        return done.stdout

    def line(self, *args: str, input: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """The one line a command prints, without its newline; a path may hold newlines of its own."""
        return os.fsdecode(self.out(*args, input=input, env=env).removesuffix(b"\n"))

    def _places(self) -> dict[str, str]:
        places = {}
        if self.index is not None:
            places["GIT_INDEX_FILE"] = str(self.index)
        if self.objects is not None:
            places["GIT_OBJECT_DIRECTORY"] = str(self.objects)
        if self.alternates:
            places["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = ":".join(quote_path(path) for path in self.alternates)
        return places


class TreeEntry(msgspec.Struct, frozen=True):
    """One file of a tree. Names that are not UTF-8 are decoded as os.fsdecode does."""

    mode: str
    blob: str
    path: str

    @property
    def index_line(self) -> str:
        """As `update-index --index-info` takes it."""
        return f"{self.mode} {self.blob}\t{self.path}"


def failure(args: tuple[str, ...], done: process.Captured) -> GitFailed:
    return GitFailed(" ".join(args[:3]), done.code, done.stderr.decode("utf-8", "backslashreplace"))


def quote_path(path: Path) -> str:
    """A path in git's C-style quotes: the form its lists of object stores take whatever the path holds."""
    plain = bytes(range(0x20, 0x7F)).replace(b'"', b"").replace(b"\\", b"")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(path)) + '"'


def records(output: bytes) -> list[str]:
    """The fields of NUL-separated output; names that are not UTF-8 survive as surrogate escapes."""
    return [os.fsdecode(field) for field in output.split(b"\0") if field]


def join_records(fields: Iterable[str]) -> bytes:
    """NUL-terminated input; the counterpart of `records`."""
    return b"".join(os.fsencode(field) + b"\0" for field in fields)
