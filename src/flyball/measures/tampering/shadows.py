"""New files that Python would import in place of something else: its own modules, the runner, tests, or the code under test.

A program that a gate or lint command starts looks first in folders of its own, its `import_roots`.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from flyball.core.model.measurement import Trick
from flyball.measures.sources import Read, imports, looks_like_test, text_of

_STANDARD = frozenset(name.casefold() for name in sys.stdlib_module_names)
_STARTING = frozenset({"sitecustomize", "usercustomize"})
"""What Python imports before anything else, wherever it finds it; no installation has it."""
_MODULES = (".py", ".so", ".pyd")
_INTERPRETER = re.compile(r"(?:.*/)?(?:python|pypy)[0-9.]*|\$\w*PY\w*")
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_BETWEEN = re.compile(r"[;&|()\n`{}]+")
_OPTION = re.compile(r"-([bBdEhiIOPqRsStuvVx]*)(?:([cmWX])(.*))?")
_MODULE = re.compile(r"(\w+)(?:\.[^/]*)?\.(?:py|so|pyd)|(\w+)/__init__\.[^/]+")

Roots = Mapping[str, frozenset[str]]
"""By folder, the names of modules that must come from elsewhere."""


def shadow(
    path: str, accepted: frozenset[str], candidate: frozenset[str], installed: frozenset[str] = frozenset()
) -> Trick | None:
    """What a new file would be taken for, if anything; `installed` are the modules of the environment, case-folded."""
    if is_shadow(path, candidate, installed) and not _in_own_package(path, accepted):
        what = "a new file would be imported in place of a module of Python's own or of the environment"
        return Trick("runner-shadowed", path, f"{what}; give it another name")
    if hidden := _hides(path, accepted):
        return Trick("runner-shadowed", path, f"a new file would be imported in place of the accepted {hidden}")
    if twin := _twin(path, candidate):
        return Trick("wrong-tree", path, f"a new file would be imported in place of {twin}, or {twin} in its place")
    return None


def is_shadow(path: str, files: frozenset[str], installed: frozenset[str] = frozenset()) -> bool:
    """Whether a new file would be imported in place of a module of the standard library or of the environment."""
    if path.casefold().endswith((".pth", ".pyc")):
        return True
    if not path.casefold().endswith(_MODULES):
        return False
    root, name = _place(path, files)
    name = name.casefold()
    return name in _STARTING or (root in _roots(files) and name in _STANDARD | installed)


def _in_own_package(path: str, accepted: frozenset[str]) -> bool:
    """Whether the file joins a package that was there: a project may itself be what runners are made of."""
    root, name = _place(path, accepted)
    top = name if root == "." else f"{root}/{name}"
    return path.startswith(f"{top}/") and path.endswith(_MODULES) and f"{top}/__init__.py" in accepted


def _place(path: str, files: frozenset[str]) -> tuple[str, str]:
    """The folder a module is imported from, and the name of it or of the package it lies in."""
    parts = PurePosixPath(path).parts
    top = next(
        (at for at in range(len(parts) - 1) if "/".join((*parts[: at + 1], "__init__.py")) in files), len(parts) - 1
    )
    return "/".join(parts[:top]) or ".", parts[top].split(".")[0]


@lru_cache(maxsize=2)
def _roots(files: frozenset[str]) -> frozenset[str]:
    """The folders that modules are imported from when tests run, as far as names tell."""
    return frozenset({".", "src", "lib"} | {str(PurePosixPath(f).parent) for f in files if looks_like_test(f)})


def _hides(path: str, accepted: frozenset[str]) -> str:
    """The accepted test module that Python would no longer import, since what is new comes first."""
    place = PurePosixPath(path)
    folder = f"{path.removesuffix('.py')}/"
    if path.endswith(".py") and f"{folder}__init__.py" not in accepted:
        hidden = sorted(f for f in accepted if f.startswith(folder) and f.endswith(".py") and looks_like_test(f))
        if hidden:
            return hidden[0]
    if place.name == "__init__.py":
        module = f"{place.parent}.py"
    elif place.suffix in {".so", ".pyd"}:
        module = str(place.with_name(place.name.partition(".")[0] + ".py"))
    else:
        return ""
    return module if module in accepted and looks_like_test(module) else ""


def _twin(path: str, candidate: frozenset[str]) -> str:
    """The product's module of the same name below another folder that modules are imported from."""
    roots = _roots(candidate)
    root, name = _place(path, candidate)
    if not path.endswith(_MODULES) or root not in roots or name == "__init__":
        return ""
    others = (f"{other}/{name}".removeprefix("./") for other in sorted(roots - {root}))
    twins = (twin for other in others for twin in (f"{other}.py", f"{other}/__init__.py"))
    return next((twin for twin in twins if twin in candidate and not looks_like_test(twin)), "")


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
            texts.append(text_of(source))
    for text in texts:
        for folder, names in _program_folders(text):
            roots[folder] = roots.get(folder, frozenset()) | names
    return roots


def stand_in(path: str, roots: Roots, accepted: frozenset[str]) -> Trick | None:
    """What a new file would be imported in place of by a program that a command starts, if anything."""
    for folder, names in roots.items():
        below = path if folder == "." else path.removeprefix(f"{folder}/")
        found = _MODULE.fullmatch(below) if folder == "." or below != path else None
        name = (found[1] or found[2]) if found else ""
        if name and name.casefold() in {each.casefold() for each in names} and not _was_own(path, accepted, name):
            what = f"a new file would be imported in place of {name} by what a gate or lint command starts"
            return Trick("runner-shadowed", path, f"{what}; give it another name")
    return None


def _was_own(path: str, accepted: frozenset[str], name: str) -> bool:
    """Whether a module was the tree's own before, as a folder without `__init__.py`."""
    folder = f"{PurePosixPath(path).parent}/"
    known = name in sys.stdlib_module_names
    return not known and path.endswith("/__init__.py") and any(f.startswith(folder) for f in accepted)


def _program_folders(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each folder on the path of a Python program that a text starts, with the names it must not define."""
    folders = ["."]
    for part in _BETWEEN.split(_VARIABLE.sub(r"$\1", text)):
        words = [word.strip("\"'@") for word in part.split()]
        if words[:1] == ["cd"] and len(words) > 1:
            folders.append(_join(folders[-1], words[1]))
        at = next((n for n, word in enumerate(words) if _INTERPRETER.fullmatch(word)), None)
        if at is None:
            continue
        place, names = _program(words[at + 1 :])
        given = ":".join(word.partition("=")[2] for word in words[:at] if word.startswith("PYTHONPATH="))
        places = [] if place is None else [_join(folder, place) for folder in folders]
        for folder in (*places, *(_join(".", each) for each in given.split(":") if each)):
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


def _join(folder: str, place: str) -> str:
    """A folder below the root, written as git would; what leaves the tree is nobody's to plant in."""
    parts: list[str] = []
    for part in PurePosixPath(folder, place).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."
