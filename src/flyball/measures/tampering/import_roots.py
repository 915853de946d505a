"""The folders that Python programs started by commands import from first, and what a new module there stands in for."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from flyball.core.model.measurement import Trick
from flyball.measures.sources import imports

_STANDARD = frozenset(sys.stdlib_module_names)
_INTERPRETER = re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*|\$\w*PY\w*")
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_BETWEEN = re.compile(r"[;&|()\n`{}]+")
_OPTION = re.compile(r"-([bBdEhiIOPqRsStuvVx]*)(?:([cmWX])(.*))?")
_MODULE = re.compile(r"(\w+)(?:\.[^/]*)?\.(?:py|so|pyd)|(\w+)/__init__\.[^/]+")

Read = Callable[[str], bytes | None]
Roots = Mapping[str, frozenset[str]]
"""By folder, the names of modules that must come from elsewhere."""


def import_roots(commands: str, scripts: Iterable[str], read: Read) -> Roots:
    """Where the programs of commands, and of the `scripts` they start, look for modules before anywhere else."""
    roots: dict[str, frozenset[str]] = {}
    texts = [commands]
    for script in scripts:
        source = read(script) or b""
        if script.endswith(".py"):
            folder = str(PurePosixPath(script).parent)
            # In the root lies the product, and a script there may import what is still to be written.
            names = _STANDARD | imports(source) if folder != "." else _STANDARD
            roots[folder] = roots.get(folder, frozenset()) | names
        else:
            texts.append(source.decode("utf-8", "replace"))
    for text in texts:
        for folder, names in _started(text):
            roots[folder] = roots.get(folder, frozenset()) | names
    return roots


def stand_in(path: str, roots: Roots, accepted: frozenset[str]) -> Trick | None:
    """What a new file would be imported in place of by a program that a command starts, if anything."""
    for folder, names in roots.items():
        below = path if folder == "." else path.removeprefix(f"{folder}/")
        found = _MODULE.fullmatch(below) if folder == "." or below != path else None
        name = (found[1] or found[2]) if found else ""
        if name and name.casefold() in {each.casefold() for each in names} and not _is_own(path, accepted, name):
            what = f"a new file would be imported in place of {name} by what a gate or lint command starts"
            return Trick("runner-shadowed", path, f"{what}; give it another name")
    return None


def _is_own(path: str, accepted: frozenset[str], name: str) -> bool:
    """Whether a module was the tree's own before, as a folder without `__init__.py`."""
    folder = f"{PurePosixPath(path).parent}/"
    return name not in _STANDARD and path.endswith("/__init__.py") and any(f.startswith(folder) for f in accepted)


def _started(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each folder on the path of a Python program that a text starts, with the names it must not define."""
    folders = ["."]
    for part in _BETWEEN.split(_VARIABLE.sub(r"$\1", text)):
        words = [word.strip("\"'@") for word in part.split()]
        if words[:1] == ["cd"] and len(words) > 1:
            folders.append(_joined(folders[-1], words[1]))
        at = next((n for n, word in enumerate(words) if _INTERPRETER.fullmatch(word)), None)
        if at is None:
            continue
        place, names = _program(words[at + 1 :])
        given = ":".join(word.partition("=")[2] for word in words[:at] if word.startswith("PYTHONPATH="))
        places = [] if place is None else [_joined(folder, place) for folder in folders]
        for folder in (*places, *(_joined(".", each) for each in given.split(":") if each)):
            yield folder, names


def _program(words: list[str]) -> tuple[str | None, frozenset[str]]:
    """The folder a program puts on its path, None for none, and the names that must come from elsewhere."""
    isolated, rest = False, iter(words)
    for word in rest:
        option = _OPTION.fullmatch(word)
        if option is None or word == "-":
            place = str(PurePosixPath(word).parent)
            return None if isolated else place, _STANDARD
        isolated = isolated or bool({"I", "P"} & set(option[1]))
        value = option[3] or (next(rest, "") if option[2] else "")
        if option[2] == "c":
            return None if isolated else ".", _STANDARD
        if option[2] == "m":
            top = value.partition(".")[0]
            return None if isolated else ".", _STANDARD | {top}
    return None, frozenset()


def _joined(folder: str, place: str) -> str:
    """A folder below the root, written as git would; what leaves the tree is nobody's to plant in."""
    parts: list[str] = []
    for part in PurePosixPath(folder, place).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."
