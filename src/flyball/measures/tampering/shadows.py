"""New files with the name of a module of Python's own or of the environment: whoever imports that name may find them first."""

import sys
from functools import lru_cache
from pathlib import PurePosixPath

from flyball.measures.sources import looks_like_test

_STANDARD = frozenset(name.casefold() for name in sys.stdlib_module_names)
_STARTING = frozenset({"sitecustomize", "usercustomize"})
"""What Python imports before anything else, wherever it finds it; no installation has it."""
_MODULES = (".py", ".so", ".pyd")


def is_shadow(path: str, files: frozenset[str], installed: frozenset[str] = frozenset()) -> bool:
    """Whether a new file may be imported in place of another module; `installed` are those of the environment, case-folded."""
    if not path.casefold().endswith(_MODULES):
        return False
    # The folder a module is imported from, and the name of it or of the package it lies in.
    parts = PurePosixPath(path).parts
    top = next(
        (at for at in range(len(parts) - 1) if "/".join((*parts[: at + 1], "__init__.py")) in files), len(parts) - 1
    )
    root, name = "/".join(parts[:top]) or ".", parts[top].split(".")[0]
    return name.casefold() in _STARTING or (root in _roots(files) and name.casefold() in _STANDARD | installed)


@lru_cache(maxsize=2)
def _roots(files: frozenset[str]) -> frozenset[str]:
    """The folders that modules are imported from when tests run, as far as names tell."""
    return frozenset({".", "src", "lib"} | {str(PurePosixPath(f).parent) for f in files if looks_like_test(f)})
