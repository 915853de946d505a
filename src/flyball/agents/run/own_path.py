"""Keeps flyball's own environment off an agent's PATH: its Python and its pytest are not the project's.

`flyball` itself stays: agents ask it over MCP and in hooks.
"""

import os
import shutil
import sys
from pathlib import Path

PROGRAM = "flyball"


def own_programs(root: Path) -> Path | None:
    """The folder of programs flyball is installed with; None where it has no environment of its own, or the project's."""
    prefix = Path(sys.prefix)
    if sys.prefix == sys.base_prefix or prefix.is_relative_to(root.resolve()):
        return None
    return prefix / "bin"


def remove_folder(path: str, own: Path) -> str:
    kept = (entry for entry in path.split(os.pathsep) if entry and not _is_same(Path(entry), own))
    return os.pathsep.join(kept)


def launcher(folder: Path, own: Path) -> Path | None:
    """A folder with nothing but `flyball` in it."""
    program, made = own / PROGRAM, folder / "bin"
    if not program.exists():
        return None
    made.mkdir(exist_ok=True)
    (made / PROGRAM).symlink_to(program)
    return made


def find_program(program: str, path: str, shorter: str) -> str:
    """A program by its full path, where only the longer PATH has it: a person may name one of flyball's environment."""
    if "/" in program or shutil.which(program, path=shorter):
        return program
    return shutil.which(program, path=path) or program


def _is_same(entry: Path, own: Path) -> bool:
    try:
        return entry.samefile(own)
    except OSError:
        return entry == own
