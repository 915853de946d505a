"""Files in the user's tree that git's settings turn into programs or into more settings: hooks elsewhere, and includes."""

import os
from collections.abc import Mapping
from pathlib import Path

from flyball.workspace.errors import SettingsInReach
from flyball.workspace.git import records
from flyball.workspace.in_place.nested import GIT
from flyball.workspace.mounts import Mount
from flyball.workspace.repository import Repository

_NAMES = r"^(core\.hookspath|include\.path|includeif\..*\.path)$"
_HOOKS = "core.hookspath"


def settings_in_tree(repository: Repository, environment: Mapping[str, str]) -> dict[Path, str]:
    """The places in the tree, but outside `.git`, that git takes programs or settings from, each with the key that names it."""
    done = repository.as_user(environment, "config", "--show-origin", "-z", "--type=path", "--get-regexp", _NAMES)
    root = Path(os.path.abspath(repository.root))
    fields = records(done.stdout)
    found: dict[Path, str] = {}
    for origin, said in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = said.partition("\n")
        # Hooks are looked for from the tree's root, includes from the file that names them.
        above = root if key == _HOOKS else (root / origin.removeprefix("file:")).parent
        place = Path(os.path.abspath(above / value))
        if place.is_relative_to(root) and place != root and place.relative_to(root).parts[0].lower() != GIT:
            found[place] = key
    return found


def guard_settings(places: Mapping[Path, str], root: Path) -> tuple[Mount, ...]:
    """Mounts that hold the places as they are; a folder above one is held in its place, too, and stays writable."""
    top = Path(os.path.abspath(root))
    above = dict.fromkeys(
        folder for place in places for folder in reversed(place.parents) if folder.is_relative_to(top) and folder != top
    )
    held = [folder for folder in above if folder not in places]
    return (*(Mount("writable", folder) for folder in held), *(Mount("read-only", place) for place in places))


def refuse_settings(repository: Repository, environment: Mapping[str, str]) -> None:
    """Refuse a tree in which a place that git takes programs from is missing or a link, which no mount can hold."""
    root, real = os.path.abspath(repository.root), os.path.realpath(repository.root)
    for place, key in settings_in_tree(repository, environment).items():
        if place.exists() and os.path.realpath(place) == os.path.join(real, place.relative_to(root)):
            continue
        what, mend = "is reached by a symbolic link", f"Set {key} to the place it leads to"
        if not os.path.lexists(place):
            make = "mkdir -p" if key == _HOOKS else "touch"
            what, mend = "does not exist", f"Make it, so that it can be kept from the agent: {make} '{place}'"
        raise SettingsInReach(
            f"Git's setting {key} names {place}, which {what}: an agent at work in this tree could put programs there "
            "that your git runs.",
            f"{mend}; or run without --in-place.",
        )
