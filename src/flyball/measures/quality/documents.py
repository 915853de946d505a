"""Documents and decision records a candidate added or changed, and the diagrams in them."""

import re
from pathlib import PurePosixPath

from flyball.core.model.measurement import Files
from flyball.core.model.naming import LOOP
from flyball.core.model.task import Commit
from flyball.core.text.documents import is_document
from flyball.measures.quality.diagrams import Complaints, diagrams_of
from flyball.measures.sources import text_of
from flyball.ports import Trees

_DECISION = re.compile(r"(?:.*/)?decisions/[^/]+|(?:.*/)?ADR-[^/]*", re.IGNORECASE)
_CHANGELOG = re.compile(r"(?:changelog|changes|history|news|release[-_]?notes)(?:\.\w+)?")

SHOWN = 20
LOOKED_AT = 200


def is_decision_record(path: str) -> bool:
    return is_document(path) and bool(_DECISION.fullmatch(path))


def measure_files(
    workspace: Trees,
    base: Commit,
    candidate: Commit,
    complaints: Complaints,
    kept: tuple[str, ...] = (),
    small: int | None = None,
) -> Files:
    """What differs between base and candidate outside the `kept` folders and flyball's own, and what its documents hold.

    Lines are counted where it is asked whether they are few, `small`.
    """
    aside = tuple(f"{folder}/" for folder in (LOOP, *kept))
    differing = workspace.changed_files(base, candidate) if base != candidate else ()
    changes = [(status, path) for status, path in differing if not path.startswith(aside)]
    written = [path for status, path in changes if status[:1] != "D"]
    every = [path for path in written if is_document(path)]
    documents = [path for path in every if (workspace.read_file(candidate, path) or b"").strip()]
    drawn = [
        (f"{path}, diagram {number}", source)
        for path in documents
        for number, source in enumerate(_diagrams(workspace, candidate, path), start=1)
    ]
    said = complaints([source for _, source in drawn]) if drawn else []
    known = {path: set(_diagrams(workspace, base, path)) for path in documents} if any(said) else {}
    broken = [
        f"{place}: {what}"
        for (place, source), what in zip(drawn, said, strict=True)
        if what and source not in known[place.rpartition(", diagram ")[0]]
    ]
    return Files(
        created=sum(status[:1] == "A" for status, _ in changes),
        modified=sum(status[:1] not in {"A", "D"} for status, _ in changes),
        deleted=sum(status[:1] == "D" for status, _ in changes),
        documents=len(documents),
        documents_empty=tuple(path for path in every if path not in documents)[:SHOWN],
        decision_records=sum(is_decision_record(path) for path in documents),
        diagrams=len(drawn),
        diagrams_valid=len(drawn) - len(broken),
        diagrams_broken=tuple(broken),
        lines=None
        if small is None
        else _changed_lines(workspace, base, candidate, [path for _, path in changes], small),
    )


def _changed_lines(workspace: Trees, base: Commit, candidate: Commit, paths: list[str], small: int) -> int:
    """The lines added and removed; what is no text counts by its bytes, and more files than are `small` by their number."""
    if len(paths) > small:
        return len(paths)
    ways = ((base, candidate), (candidate, base))
    return sum(
        sum(count for old, new in ways for _, count in workspace.added_lines(old, new, path))
        or len(workspace.read_file(candidate, path) or b"")
        for path in paths
    )


def _diagrams(workspace: Trees, candidate: Commit, path: str) -> list[str | None]:
    return diagrams_of(text_of(workspace.read_file(candidate, path)))


def has_diagrams(workspace: Trees, commit: Commit) -> bool:
    documents = [path for path in workspace.list_files(commit) if is_document(path)][:LOOKED_AT]
    return any(_diagrams(workspace, commit, path) for path in documents)


def is_readme(path: str) -> bool:
    return PurePosixPath(path).name.lower().startswith("readme")


def is_changelog(path: str) -> bool:
    return bool(_CHANGELOG.fullmatch(PurePosixPath(path).name.lower()))
