"""Confines a command with bubblewrap: it sees its tree at the repository's own path and can write nowhere else.

Mounting the tree over the user's repository makes absolute paths, editable installs and scripts in environment folders
resolve to the candidate and not to the user's files. `--disable-userns` is never used: agents bring sandboxes of their own
(which Linux grants an ordinary user; a root without capabilities, as here, may not map itself into a further namespace).
"""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from flyball import process
from flyball.ports import EnvironmentUse
from flyball.workspace.mounts import EnvironmentMounts, Mount

_SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".docker", ".kube", ".password-store", ".terraform.d", ".mozilla"),
    *(".config/gh", ".config/hub", ".config/gcloud", ".config/op", ".config/git/credentials", ".git-credentials"),
    *(".netrc", ".pypirc", ".vault-token", ".cargo/credentials.toml", ".gem/credentials", ".local/share/keyrings"),
    *(".config/google-chrome", ".config/chromium", ".bash_history", ".zsh_history", ".python_history"),
)
# Whoever reaches one of these sockets can have files read and written from outside the sandbox.
_SOCKETS = ("/run/docker.sock", "/run/podman", "/run/containerd", "/run/user", "/run/dbus")
_PRIVATE = ("/tmp", "/var/tmp")
_COVERED = (*_PRIVATE, "/dev/shm")
"""Where nothing of the machine's own is seen unless it is shown."""
_CACHES = {
    name: f"/tmp/cache/{tool}"
    for name, tool in {
        "npm_config_cache": "npm", "YARN_CACHE_FOLDER": "yarn", "YARN_GLOBAL_FOLDER": "berry", "BUN_INSTALL_CACHE_DIR": "bun",
        "DENO_DIR": "deno", "UV_CACHE_DIR": "uv", "GOCACHE": "go", "CCACHE_DIR": "ccache", "COMPOSER_CACHE_DIR": "composer",
    }.items()
}  # fmt: skip
"""Tools that refuse to work where they cannot write their cache, and what tells them another one: it ends with the command."""
_PROFILE = (
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *(word for folder in _PRIVATE for word in ("--tmpfs", folder)),
)


class Unavailable(msgspec.Struct, frozen=True):
    reason: str


def command(
    program: str, mounts: Sequence[Mount], argv: Sequence[str], *, folder: Path, network: bool = True
) -> list[str]:
    """The bubblewrap command line for `argv`, started in `folder`; later mounts cover earlier ones."""
    options = [option for mount in mounts for option in mount.options()]
    alone = [] if network else ["--unshare-net"]
    return [program, *_PROFILE, *alone, *options, "--chdir", str(folder), "--", *argv]


def available() -> str | Unavailable:
    """Where bubblewrap is, if it works here: found by using it once."""
    program = shutil.which("bwrap")
    if program is None:
        return Unavailable("bubblewrap is not installed; install it, for example with: apt install bubblewrap")
    trouble = _try(program)
    return Unavailable(f"bubblewrap does not work here: {trouble}") if trouble else program


@lru_cache(maxsize=8)
def _try(program: str) -> str:
    """What is wrong with a bubblewrap, found by using it."""
    trial = command(program, (), ["true"], folder=Path("/"))
    try:
        done = process.capture(trial, cwd=Path("/"), env={"PATH": os.defpath}, timeout=10.0)
    except (process.ProgramMissing, process.CommandTimedOut) as error:
        return str(error)
    return (done.complaint or f"it ended with code {done.code}") if done.code != 0 else ""


def secret_paths(home: Path) -> tuple[Path, ...]:
    """What a person's home and machine hold that no agent needs: keys, tokens, histories, sockets of daemons."""
    return (*(home / name for name in _SECRETS), *(Path(name) for name in _SOCKETS))


class Unconfined(msgspec.Struct, frozen=True):
    """No sandbox: the command runs as it is, in the tree where it really lies."""

    def __call__(
        self, argv: Sequence[str], *, tree: Path, env: Mapping[str, str], **_limits: object
    ) -> tuple[list[str], Path, dict[str, str]]:
        return list(argv), tree, dict(env)


class Confined(msgspec.Struct, frozen=True):
    """How commands of one task are confined.

    `root` is where trees appear. `programs` are folders that hold programs a command needs; with what the command itself
    names they can be read even below /tmp, which is private otherwise. `hidden` is covered (flyball's home must be in it),
    then `readable` and `shown`, which an agent's adapter asks for, are uncovered, the latter writable. `git_dirs` says
    which extra mounts the `.git` of a tree needs. `environments` are the user's installed dependencies, `environment_names` what a tree's own are called, and `copies` says
    where those who may write the user's have a copy of them, for each tree.
    """

    program: str
    root: Path
    hidden: tuple[Path, ...]
    programs: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    git_dirs: Callable[[Path], tuple[Mount, ...]] = lambda _tree: ()
    environments: tuple[str, ...] = ()
    environment_names: tuple[str, ...] = ()
    copies: Callable[[Path], Path] | None = None
    network: bool = True

    def __call__(
        self,
        argv: Sequence[str],
        *,
        tree: Path,
        env: Mapping[str, str],
        writable: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
        read_only_tree: bool = False,
        environments: EnvironmentUse = "pristine",
    ) -> tuple[list[str], Path, dict[str, str]]:
        """The command, the folder to start it in and its whole environment.

        The environment travels as the process's own and not on bubblewrap's command line, which every user can read.
        """
        needed = _private_folders(_real_paths((*self.programs, *_named_folders(argv))))
        mounts = [
            *(Mount("read-only", Path(path)) for path in needed),
            *(
                Mount("empty" if os.path.isdir(path) else "nothing", Path(path))
                for path in sorted(_real_paths(self.hidden))
                if _is_below(path, needed) or not _is_below(path, _PRIVATE)
            ),
            *(Mount("read-only", path) for path in self.readable if path.exists()),
            *(Mount("writable", path) for path in self.shown if path.exists()),
            Mount("read-only" if read_only_tree else "writable", self.root, tree),
            *EnvironmentMounts(self.root, self.environments, self.environment_names, self.copies).of(
                tree, environments
            ),
            *self._git_mounts(tree),
            *(Mount("writable", path) for path in writable),
            *(Mount("read-only", path) for path in read_only),
        ]
        inner = {name: value for name, value in env.items() if name not in ("TMPDIR", "TMP", "TEMP")} | _CACHES
        return command(self.program, mounts, argv, folder=self.root, network=self.network), tree, inner

    def _git_mounts(self, tree: Path) -> list[Mount]:
        """The tree's own .git is read-only as a whole: guarding only parts of it is got round by moving it away."""
        git = tree / ".git"
        if git.is_symlink() or not git.exists():
            return []
        return [Mount("read-only", self.root / ".git", git), *self.git_dirs(tree)]


def _named_folders(argv: Sequence[str]) -> list[Path]:
    """The folders of files a command names by their whole path, also within a shell's `-c`."""
    found = []
    for arg in argv:
        try:
            words = shlex.split(arg)
        except ValueError:
            words = [arg]
        for path in (Path(word) for word in words if word.startswith("/")):
            if not path.exists():
                continue
            if path.is_dir() or str(path.parent) in _COVERED:
                found.append(path)
            else:
                # A program's libraries lie next to its bin, not in it.
                found.append(path.parents[1] if path.parent.name == "bin" else path.parent)
    return found


def _real_paths(paths: Sequence[Path]) -> set[str]:
    return {os.path.realpath(path) for path in paths if path.exists()}


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _private_folders(paths: set[str]) -> list[str]:
    """Those of the paths that a private folder would hide, without those below another one."""
    below = [path for path in sorted(paths) if path not in _COVERED and _is_below(path, _COVERED)]
    return [path for path in below if not _is_below(path, [other for other in below if other != path])]
