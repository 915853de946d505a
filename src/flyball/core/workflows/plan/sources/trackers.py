"""Issues of trackers that are asked by their own programs: beads (`bd`) and GitHub (`gh`), from the JSON those print."""

import re
from typing import Any

from flyball.core.model.task import Item
from flyball.core.workflows.plan.sources import values as v
from flyball.core.workflows.plan.sources.boxes import plain, scan
from flyball.core.workflows.plan.sources.json_text import decode_json
from flyball.core.workflows.plan.sources.ordering import cycle_defects, require_dependencies
from flyball.core.workflows.plan.sources.wording import files_in

Texts = tuple[str, ...]
BEADS_DONE = "closed"
GITHUB_DONE = "CLOSED"
BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
NESTING = "parent-child"
IDLE = frozenset({"hooked", "pinned", "tombstone"})
_BLOCKED_BY = re.compile(r"\b(?:blocked by|depends on)\b:?\s*((?:#\d+(?:\s*(?:,|and)\s*)?)+)", re.IGNORECASE)


def read_beads(raw: bytes) -> v.ImportedPlan:
    """What `bd ready --json` prints: a bare list, or one in an envelope."""
    issues = _issues(raw, "bd ready --json", ("id", "title", "status"))
    parents = {other for issue in issues for other, kind in _links(issue) if kind == NESTING}
    known = {str(issue["id"]) for issue in issues}
    corrupt = [issue["id"] for issue in issues if (issue["status"] == BEADS_DONE) != bool(issue.get("closed_at"))]
    contradiction = "status and closed_at contradict each other; expected both or neither"
    defects = [v.PlanDefect(0, f"{id}: {contradiction}. Look at it with: bd show {id}") for id in corrupt]
    ordered = require_dependencies(_bead(issue, known, parents) for issue in issues)
    return v.ImportedPlan("beads", ordered, (*defects, *cycle_defects(ordered)), done=BEADS_DONE)


def read_github(raw: bytes) -> v.ImportedPlan:
    """What `gh issue list --json …` prints."""
    issues = _issues(raw, "gh issue list", ("number", "title", "state"))
    known = {f"#{issue['number']}" for issue in issues}
    parents = {f"#{number}" for issue in issues for number in _numbers(issue.get("parent"))}
    ordered = require_dependencies(_github(issue, known, parents) for issue in issues)
    return v.ImportedPlan("github", ordered, cycle_defects(ordered), done=GITHUB_DONE)


def _issues(raw: bytes, command: str, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    value = decode_json(raw)
    issues = value.get("data") if isinstance(value, dict) else value
    if not isinstance(issues, list):
        raise v.PlanUnreadable(f"{command} printed no list; expected one of issues")
    for number, issue in enumerate(issues, start=1):
        missing = [name for name in fields if not isinstance(issue, dict) or name not in issue]
        if missing:
            raise v.PlanUnreadable(f"{command}: issue {number} has no {missing[0]}; expected {', '.join(fields)}")
    return issues


def _links(issue: dict[str, Any]) -> list[tuple[str, str]]:
    links = issue.get("dependencies") or []
    return [(str(each.get("depends_on_id") or each.get("id")), str(each.get("type") or each.get("dependency_type"))) for each in links]  # fmt: skip


def _bead(issue: dict[str, Any], known: set[str], parents: set[str]) -> v.PlanEntry:
    id, status = str(issue["id"]), str(issue["status"])
    wanted = tuple(other for other, kind in _links(issue) if kind in BLOCKING and other in known)
    texts = [issue.get(name) for name in ("acceptance_criteria", "description", "design")]
    points = tuple(plain(text) for text in texts if isinstance(text, str) and text.strip())
    above = next((other for other, kind in _links(issue) if kind == NESTING and other in known), "")
    role: v.Role = "parent" if id in parents else "checklist" if status in IDLE else "work"
    return _entry(id, issue["title"], status, BEADS_DONE, points, wanted, role, above)


def _github(issue: dict[str, Any], known: set[str], parents: set[str]) -> v.PlanEntry:
    id, body = f"#{issue['number']}", str(issue.get("body") or "")
    boxes = tuple(box.text for box in scan(body.encode("utf-8", "replace")).boxes)
    points = boxes or ((plain(body),) if body.strip() else ())
    said = (number for found in _BLOCKED_BY.finditer(body) for number in re.findall(r"#(\d+)", found[1]))
    named = [f"#{int(number)}" for number in (*_numbers(issue.get("blockedBy")), *said)]
    wanted = tuple(dict.fromkeys(each for each in named if each in known and each != id))
    above = next((f"#{number}" for number in _numbers(issue.get("parent"))), "")
    above = above if above in known else ""
    role: v.Role = "parent" if id in parents else "work"
    return _entry(id, issue["title"], str(issue["state"]), GITHUB_DONE, points, wanted, role, above)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [value["number"]] if isinstance(value.get("number"), int) else _numbers(value.get("nodes"))
    return [number for each in value for number in _numbers(each)] if isinstance(value, list) else []


def _entry(
    id: str, title: Any, status: str, done: str, points: Texts, wanted: Texts, role: v.Role, parent: str
) -> v.PlanEntry:
    text = plain(str(title))
    item = Item(
        id,
        text,
        status="completed" if status == done else "not-started",
        files=files_in(" ; ".join((text, *points))),
        depends_on=wanted,
        acceptance=points or (v.JUDGED_BY_REVIEW,),
    )
    key = v.Key(id, text)
    return v.PlanEntry(item, key, (v.Mark(key, status),), 0, role, parent)
