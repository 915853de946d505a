"""How each tool of the markdown family writes its plan, as a table; and by which path or content its files are known."""

import re
from collections.abc import Callable

import msgspec

from flyball.core.workflows.plan.sources.boxes import TICKED, Box, HeadedSection, Scan
from flyball.core.workflows.plan.sources.values import Format
from flyball.core.workflows.plan.sources.wording import take_apart

TASK_HEADING = re.compile(r"(?:Task|Iteration)\s+(\d+(?:\.\d+)?[a-z]?(?:-\d+)?)\s*[:.–—-]\s*(.*)", re.IGNORECASE)
_OPTIONAL = re.compile(r"(?:\W|\d)*(?:optional|future|nice[ -]to[ -]have)", re.IGNORECASE)


class Profile(msgspec.Struct, frozen=True):
    """What is peculiar to a tool: `numbers` are ids, `labels` follow an id, `ids` there are; `idle` sections hold no work."""

    format: Format
    numbers: bool = False
    labels: bool = False
    ids: bool = True
    parallel: str = ""
    inherits: tuple[str, ...] = ()
    idle: re.Pattern[str] | None = None
    done: str = "x"
    group: Callable[[HeadedSection], str] = lambda section: section.title


def _phase(section: HeadedSection) -> str:
    """The phase a section belongs to: the nearest heading that says so, else the highest below the title."""
    titles = (*section.above, section.title)
    phases = [title for title in titles if re.match(r"phase\b", title, re.IGNORECASE)]
    return phases[-1] if phases else (titles[1] if len(titles) > 1 else titles[0])


def is_optional(section: HeadedSection) -> bool:
    return any(_OPTIONAL.match(title) for title in (*section.above, section.title))


def is_story(group: str) -> bool:
    """Whether a phase is that of a user story, which may run beside others if the user says so."""
    return bool(re.search(r"user story|\bUS\d", group, re.IGNORECASE))


PROFILES: dict[str, Profile] = {
    each.format: each
    for each in (
        Profile("plain"),
        Profile("spec-kit", labels=True, parallel="P", inherits=("Independent Test", "Checkpoint"), done="X", group=_phase),
        Profile("openspec", numbers=True),
        Profile("kiro", numbers=True, labels=True, parallel="P"),
        Profile("ralphex"),
        Profile("fix_plan", ids=False, idle=re.compile(r"(?:completed|done|notes?)\b", re.IGNORECASE)),
    )
}  # fmt: skip

_PATHS: tuple[tuple[str, Format], ...] = (
    (r"(?:^|/)openspec/changes/.+/tasks\.md$", "openspec"),
    (r"(?:^|/)\.kiro/specs/.+/tasks\.md$", "kiro"),
    (r"(?:^|/)(?:\.specify/)?specs/[^/]+/tasks\.md$", "spec-kit"),
    (r"(?:^|/)@?fix_plan\.md$", "fix_plan"),
    (r"(?:^|/)tasks/tasks\.json$|(?:^|/)tasks\.json$", "task-master"),
    (r"(?:^|/)prd[^/]*\.json$", "ralph"),
)
_NAMED_PLANS = re.compile(r"(?:^|/)(?:tasks?|todos?)\.(?:md|markdown)$", re.IGNORECASE)


def format_by_path(path: str) -> Format | None:
    return next((format for pattern, format in _PATHS if re.search(pattern, path)), None)


def format_by_content(found: Scan) -> Format:
    """The tool whose marks a file bears; plain boxes where it bears none."""
    boxes = found.boxes
    if _mostly(boxes, lambda box: bool(TASK_HEADING.match(box.section.title))):
        return "ralphex"
    if _mostly(boxes, lambda box: bool(re.match(r"[*`\[]*T\d{3}", box.text))):
        return "spec-kit"
    if any("_Requirements:" in detail for box in boxes for detail in box.details):
        return "kiro"
    if _mostly(boxes, _stands_below_its_number):
        return "openspec"
    if any(re.match(r"(?:high|medium|low) priority", section.title, re.IGNORECASE) for section in found.sections):
        return "fix_plan"
    return "plain"


def _mostly(boxes: list[Box], holds: Callable[[Box], bool]) -> bool:
    return bool(boxes) and 2 * sum(map(holds, boxes)) >= len(boxes)


def _stands_below_its_number(box: Box) -> bool:
    """`1.2` below `## 1. Title`."""
    id = take_apart(box.text, numbers=True, labels=False).id
    return bool(id) and bool(re.match(rf"{re.escape(id.partition('.')[0])}[.)]?\s", box.section.title))


def is_plan(path: str, found: Scan, *, has_criteria: bool) -> bool:
    """Whether a markdown file is a list of work rather than a document about it.

    Documents have criteria and checklists too; a list is known by its path or its tool, or is little else than boxes.
    """
    if not found.boxes:
        return False
    if format_by_path(path) is not None or _NAMED_PLANS.search(path):
        return True
    prose = sum(len(section.lines) for section in found.sections)
    return not has_criteria and (format_by_content(found) != "plain" or len(found.boxes) > prose)


def tick_of(found: Scan, profile: Profile) -> str:
    """`x` or `X`: what the file has more of, else what its tool writes."""
    ticks = [box.mark for box in found.boxes if box.mark in TICKED]
    if not ticks:
        return profile.done
    return "X" if ticks.count("X") > len(ticks) / 2 else "x"
