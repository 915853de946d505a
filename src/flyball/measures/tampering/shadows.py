"""New files that Python would import in place of something else: the runner, its own modules, tests, or the code under test."""

import sys
from functools import lru_cache
from pathlib import PurePosixPath

from flyball.core.model.measurement import Trick
from flyball.measures.sources import looks_like_test

_STANDARD = frozenset(name.casefold() for name in sys.stdlib_module_names)
_STARTING = frozenset({"sitecustomize", "usercustomize"})
"""What Python imports before anything else, wherever it finds it; no installation has it."""

_MODULES = (".py", ".so", ".pyd")


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
