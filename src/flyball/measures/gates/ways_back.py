"""Ways from installed dependencies back to the user's own files, where gates run in another folder and nothing is mounted.

A copy of an environment that holds one would have a gate measure what the user has, not what an agent has made.
"""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from flyball.core.model.task import Settings
from flyball.folders import CACHES, users_environments, walk

_TEXTS = ("*.pth", "*.egg-link", "direct_url.json", "*editable*", ".package-lock.json", "autoload*.php")
_SCRIPTS = frozenset({"bin", ".bin", "Scripts"})
_LARGEST = 4 << 20
_LONGEST_LINE = 4096
_END = r"(?![\w.@+-])(/[^\s\"'`,;:<>|]*)?"
"""What follows the repository's path: nothing that would make it another folder's name, and what lies below it."""


def find_way_back(repository: Path, settings: Settings, outside: Iterable[Path] = ()) -> str:
    """A sentence on the first way that leads from an environment to the user's own files; empty where there is none."""
    if settings.setup or settings.sandbox != "none":
        return ""
    users = users_environments(repository, settings.environment_folders)
    search = _Search(repository.resolve(), users)
    for folder in (*(search.root / name for name in users), *outside):
        for file in search.ways_in(folder):
            shown = file.relative_to(search.root) if file.is_relative_to(search.root) else file
            return (
                f"Gates run in another folder here, and {shown} leads back to your own tree: gates would measure your"
                ' files, not the agent\'s. Add setup = "COMMAND" to flyball.toml, a command that installs the project in the'
                " folder it runs in; flyball init proposes one."
            )
    return ""


def find_way_into(tree: Path, made: Iterable[Path], outside: Iterable[Path]) -> str:
    """The first file that leads to a tree by its whole path: among what set-up `made` there, or in an environment elsewhere."""
    path = os.fsencode(tree.resolve())
    for top in made:
        for above, folders, files in walk(top) if top.is_dir() else [(str(top.parent), [], [top.name])]:
            folders[:] = [name for name in folders if name not in CACHES]
            for place in (Path(above, name) for name in (*folders, *files)):
                content = place.read_bytes() if place.is_file() and not place.is_symlink() else b""
                if path in (os.fsencode(place.readlink()) if place.is_symlink() else content):
                    return str(place.relative_to(tree))
    search = _Search(tree.resolve(), ())
    return next((str(file) for folder in outside for file in search.ways_in(folder)), "")


class _Search:
    """One repository whose own files nothing may lead to, but for its `environments`."""

    def __init__(self, root: Path, environments: Iterable[str]) -> None:
        self.root = root
        self._environments = tuple(root / name for name in environments)
        spelt = {str(root), quote(str(root))}
        self._path = re.compile(f"(?:{'|'.join(map(re.escape, sorted(spelt)))}){_END}")

    def ways_in(self, folder: Path) -> Iterator[Path]:
        for above, folders, names in walk(folder):
            place = Path(above)
            yield from (
                place / name for name in folders if (place / name).is_symlink() and self._link_leads(place / name)
            )
            # An environment elsewhere may have the repository in it.
            folders[:] = [name for name in folders if name not in CACHES and place / name != self.root]
            for name in names:
                file = place / name
                if self._link_leads(file) if file.is_symlink() else self._text_leads(file):
                    yield file

    def _is_own(self, place: Path) -> bool:
        """Whether a place is among the user's own files."""
        return place.is_relative_to(self.root) and not any(place.is_relative_to(each) for each in self._environments)

    def _link_leads(self, link: Path) -> bool:
        """A relative link within the repository leads to the candidate's files where a copy of it lies."""
        target = link.readlink()
        place = Path(os.path.normpath(link.parent / target))
        if not target.is_absolute() and place.is_relative_to(self.root) and link.is_relative_to(self.root):
            return False
        return self._is_own(Path(os.path.realpath(place)))

    def _text_leads(self, file: Path) -> bool:
        is_script = file.parent.name in _SCRIPTS
        if not is_script and not any(fnmatch(file.name, pattern) for pattern in _TEXTS):
            return False
        try:
            if file.stat().st_size > _LARGEST and not is_script:
                return False
            with file.open("rb") as opened:
                raw = opened.readline(_LONGEST_LINE) if is_script else opened.read()
        except OSError:
            return False
        if is_script and not raw.startswith(b"#!"):
            return False
        text = raw.decode(errors="replace")
        if any(self._is_own(Path(f"{self.root}{below or ''}")) for below in self._path.findall(text)):
            return True
        return file.suffix == ".pth" and any(self._is_added(file, line) for line in text.splitlines())

    def _is_added(self, file: Path, line: str) -> bool:
        """Whether a line of a .pth file adds a folder of the user's, also by a relative path or through a link."""
        if not line.strip() or line.startswith(("#", "import ", "import\t")):
            return False
        try:
            return self._is_own(Path(os.path.realpath(file.parent / line.strip())))
        except (OSError, ValueError):
            return False
