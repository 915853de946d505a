"""A plan that another tool keeps, as what a task starts from: recognised by its path or its content, and read with what stands beside it."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from flyball.core.model.task import Source
from flyball.core.text import criteria
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan.sources import backlog_md
from flyball.core.workflows.plan.sources.boxes import scan
from flyball.core.workflows.plan.sources.json_text import decode_json
from flyball.core.workflows.plan.sources.markdown import read_markdown
from flyball.core.workflows.plan.sources.profiles import format_by_content, format_by_path, is_plan
from flyball.core.workflows.plan.sources.ralph import read_ralph
from flyball.core.workflows.plan.sources.task_master import read_task_master, tags_in
from flyball.core.workflows.plan.sources.values import FORMATS, MARKDOWN, Format, ImportedPlan, PlanUnreadable
from flyball.core.workflows.plan.sources.wording import requirement_criteria
from flyball.documents.errors import DocumentError
from flyball.documents.source import SourceDocument, place_below, read_bytes, read_text

TASKS = "tasks"
_NAMELESS = frozenset(
    {"", "tasks", "todo", "todos", "plan", "fix plan", "implementation plan", "task list", "checklist"}
)
"""Headings that say what kind of file it is, and not what it is about."""
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "spec-kit": ("spec.md", "plan.md", "data-model.md", "research.md"),
    "openspec": ("proposal.md", "design.md"),
    "kiro": ("requirements.md", "design.md"),
}
"""What an agent should read beside the plan, by the tool that writes it."""


def recognise(path: Path, root: Path) -> Format | None:
    """The tool whose plan is at a path; None for a document, or for what cannot be read."""
    path, _ = split_selector(path)
    if path.is_dir():
        return "backlog.md" if _tasks_folder(path) is not None else None
    place = place_below(path, root)
    if path.suffix == ".json":
        return (format_by_path(place) or _json_format(path)) if path.is_file() else None
    if path.suffix.lower() not in {".md", ".markdown"}:
        return None
    try:
        raw = read_bytes(path)
        text = read_text(path, raw)
    except DocumentError:
        return None
    found = scan(raw)
    if not is_plan(place, found, has_criteria=bool(criteria.criteria(text))):
        return None
    return format_by_path(place) or format_by_content(found)


def format_of_boxes(path: Path, root: Path) -> Format | None:
    """The form of the boxes in a document, whatever else it holds; None where it has none beside its acceptance criteria.

    A box that cannot be read is one, too: whoever wants the document worked as a plan is told its line.
    """
    if not path.is_file() or path.suffix == ".json":
        return None
    try:
        raw = read_bytes(path)
        asked = {each.line for each in criteria.criteria(read_text(path, raw))}
    except DocumentError:
        return None
    found = scan(raw)
    malformed = any(defect.fatal for defect in found.defects) and not asked
    if not malformed and all(box.line in asked for box in found.boxes):
        return None
    return format_by_path(place_below(path, root)) or format_by_content(found)


def with_note_on_boxes(
    document: SourceDocument, path: Path, root: Path, workflow: str, planned_by: str
) -> SourceDocument:
    """A document that is no plan to `workflow` though it holds boxes, with a word on how to have them worked."""
    if document.source.format or format_of_boxes(path, root) is None:
        return document
    command = f"flyball run --workflow {planned_by} --from {shlex.quote(str(path))} --new"
    note = f"{document.source.path} is taken as a document for {workflow}: its boxes are neither worked one by one nor ticked. To work it as a plan: {command}"
    return replace(document, notes=(*document.notes, note))


def _json_format(path: Path) -> Format | None:
    try:
        value = decode_json(read_bytes(path))
    except (DocumentError, PlanUnreadable):
        return None
    if isinstance(value, dict) and "userStories" in value:
        return "ralph"
    listed = value.get("tasks") if isinstance(value, dict) else None
    tasks = listed if isinstance(listed, list) else []
    known = any(isinstance(task, dict) and {"id", "title", "status"} <= set(task) for task in tasks)
    return "task-master" if known or tags_in(value) else None


def split_selector(path: Path) -> tuple[Path, str]:
    """A path, and the tag typed after it: `tasks.json#feature`."""
    stem, mark, tag = path.name.rpartition("#")
    if not mark or not stem or path.exists():
        return path, ""
    return path.with_name(stem), tag


def read_plan_source(path: Path, root: Path, format: Format, *, parallel_stories: bool = False) -> SourceDocument:
    """The plan at a path, if all of it can be worked; whatever cannot is named with its line."""
    path, selector = split_selector(path)
    source = Source(place_below(path, root), "", format, selector)
    plan, digest = read_plan(source, root, parallel_stories=parallel_stories)
    refuse_defects(plan, path)
    text = "" if format == "backlog.md" else read_text(path, read_bytes(path))
    title = plan.title if plan.title.casefold() not in _NAMELESS else f"Work through {source.path}"
    found = Source(source.path, digest, format, plan.selector)
    names = [name for name in _BESIDE.get(format, ()) if (path.parent / name).is_file()]
    places = ", ".join(place_below(path.parent / name, root) for name in names)
    request = f"{title}\n\nRead also: {places}" if places else title
    return SourceDocument(found, text, title, request, plan.items, living=True, notes=notes_on(plan))


def refuse_defects(plan: ImportedPlan, path: Path) -> None:
    """Refuse a plan with an entry that could never be worked, or with none at all."""
    for defect in plan.defects:
        if defect.fatal:
            line = f", line {defect.line}" if defect.line else ""
            raise DocumentError(f"{path}{line}: {defect.message}. Correct it and try again.")
    if not plan.items:
        wanted = "a box such as `- [ ] text`" if plan.format in MARKDOWN else "an entry that is open"
        raise DocumentError(f"{path} holds nothing to work on; expected {wanted}.")


def notes_on(plan: ImportedPlan) -> tuple[str, ...]:
    lists = sum(entry.role == "checklist" for entry in plan.entries)
    later = sum(item.optional for item in plan.items)
    notes = [f"line {defect.line}: {defect.message}" if defect.line else defect.message for defect in plan.defects]
    notes += [f"{plural(lists, 'entry', 'entries')} of a checklist: shown, not worked"] if lists else []
    notes += [f"{plural(later, 'optional entry', 'optional entries')}: worked only with --optional"] if later else []
    return tuple(notes)


def read_plan(source: Source, root: Path, *, parallel_stories: bool = False) -> tuple[ImportedPlan, str]:
    path = root / source.path
    try:
        if source.format == "backlog.md":
            return _read_folder(path)
        raw = read_bytes(path)
        digest = hashlib.sha256(raw).hexdigest()
        if source.format == "task-master":
            return read_task_master(raw, source.selector, _current_tag(path)), digest
        if source.format == "ralph":
            return read_ralph(raw), digest
        read_text(path, raw)
        criteria = _requirements(path) if source.format == "kiro" else {}
        return read_markdown(raw, FORMATS[source.format], criteria, parallel_stories=parallel_stories), digest
    except PlanUnreadable as error:
        line = f", line {error.line}" if error.line else ""
        raise DocumentError(f"{path}{line}: {error}.") from error


def _current_tag(path: Path) -> str:
    """The tag Task Master works with now, as its state beside the tasks says."""
    try:
        state = json.loads((path.parent.parent / "state.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    tag = state.get("currentTag") if isinstance(state, dict) else None
    return tag if isinstance(tag, str) else ""


def _requirements(path: Path) -> Mapping[str, str]:
    beside = path.with_name("requirements.md")
    try:
        return requirement_criteria(read_text(beside, read_bytes(beside)))
    except DocumentError:
        return {}


def _tasks_folder(path: Path) -> Path | None:
    """The folder with a file for each task, below a folder of Backlog.md or the folder itself."""
    for folder in (path / TASKS, path):
        if folder.is_dir() and any(re.match(r"[A-Za-z]+-\d", each.name) for each in folder.glob("*.md")):
            return folder
    return None


def backlog_files(path: Path) -> dict[str, bytes]:
    folder = _tasks_folder(path)
    found = sorted(folder.glob("*.md")) if folder is not None else []
    return {each.relative_to(path).as_posix(): read_bytes(each) for each in found if not each.is_symlink()}


def digest_of(files: Mapping[str, bytes]) -> str:
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


def _read_folder(path: Path) -> tuple[ImportedPlan, str]:
    files = backlog_files(path)
    if not files:
        raise DocumentError(
            f"{path} holds no tasks; expected a folder of Backlog.md with files such as tasks/task-1 - Title.md."
        )
    base = path if (path / TASKS).is_dir() else path.parent
    config = next((base / name for name in ("config.yml", "config.yaml") if (base / name).is_file()), None)
    done = backlog_md.done_status(config.read_text(encoding="utf-8", errors="replace") if config else "")
    gone = (each.name for name in ("completed", "archive/tasks") for each in (base / name).glob("*.md"))
    finished = [match[0] for name in gone if (match := re.match(r"[A-Za-z]+-[\d.]*\d", name))]
    return backlog_md.read_backlog_md(files, done=done, finished=finished), digest_of(files)
