"""A backlog folder as what a task starts from: the issues in it change as it is worked, so none of them is remembered."""

from pathlib import Path

import msgspec

from flyball.core.model.task import Source
from flyball.documents.errors import DocumentError
from flyball.documents.source import SourceDocument, place_below
from flyball.documents.work_folder import CONSTITUTION, WORK

ISSUES = Path("agent") / "issues"
_CONSTITUTION = """\
# Constitution

The rules by which the backlog of {name} is worked. Every agent is told what stands here; keep it short.

## Workspace

{folders}

## What must pass

{gates}

## Rules

- One issue at a time, with the smallest change that meets its acceptance criteria.
- Every change has a test that fails without it.
- No new dependency unless the issue asks for it.

## Off limits

- Files outside this repository, credentials, and the backlog in `.work/` itself.
"""


def is_work_folder(path: Path) -> bool:
    return path.resolve().name == WORK and (path / ISSUES).is_dir()


def read_work_source(path: Path, root: Path) -> SourceDocument:
    """The backlog folder at `path`, if it has issues and a constitution."""
    if not is_work_folder(path):
        raise DocumentError(
            f"{path} is not a backlog; expected a folder {WORK} with issue files in {WORK}/{ISSUES.as_posix()}. "
            "Create one with: flyball init --constitution"
        )
    require_constitution(path)
    place = place_below(path, root)
    request = f"Work through the backlog in {place}"
    return SourceDocument(Source(place, ""), "", request, request, living=True)


def require_constitution(folder: Path) -> None:
    path = folder / CONSTITUTION
    try:
        if path.read_text(encoding="utf-8", errors="replace").strip():
            return
    except OSError:
        pass
    raise DocumentError(
        f"{path} is missing or empty; every agent reads it. Create it with: flyball init --constitution"
    )


class ProjectFacts(msgspec.Struct, frozen=True):
    name: str
    gates: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def write_constitution(root: Path, facts: ProjectFacts, *, force: bool = False) -> Path:
    """Write `.work/constitution.md`, and the folder for issues beside it; one that is there stays unless forced."""
    path = root / WORK / CONSTITUTION
    if path.exists() and not force:
        raise DocumentError(f"{path} already exists. Edit it, or replace it: flyball init --constitution --force")
    folders = [f"- `{name}/`" for name in facts.folders] or ["- (name the folders that hold code and tests)"]
    gates = [f"- `{command}`" for command in facts.gates] or ["- (name the commands that must pass)"]
    (root / WORK / ISSUES).mkdir(parents=True, exist_ok=True)
    with path.open("w" if force else "x", encoding="utf-8") as file:
        file.write(_CONSTITUTION.format(name=facts.name, folders="\n".join(folders), gates="\n".join(gates)))
    return path
