"""Ralph's `prd.json`: user stories by priority, done when `passes` is true. Criteria are texts, or objects with a text."""

from typing import Any

from msgspec.structs import replace

from flyball.core.model.task import Item
from flyball.core.workflows.plan.sources import values as v
from flyball.core.workflows.plan.sources.boxes import plain
from flyball.core.workflows.plan.sources.json_text import Path, decode_json
from flyball.core.workflows.plan.sources.ordering import cycle_defects, with_order
from flyball.core.workflows.plan.sources.wording import files_in

DONE = "true"
_LAST = 10**9


def read_ralph(raw: bytes) -> v.ImportedPlan:
    """The stories in the order of their priorities, each after the one before."""
    value = decode_json(raw)
    stories = _stories(value)
    entries = [_entry(story) for story in stories]
    priorities = [story.get("priority") for story in stories]
    ranks = [rank if isinstance(rank, int) else _LAST for rank in priorities]
    ranked = sorted(zip(ranks, entries, strict=True), key=lambda pair: pair[0])
    ordered = with_order(entry for _, entry in ranked)
    known = {entry.item.id for entry in entries}
    defects = [
        v.PlanDefect(
            0, f"{entry.item.id} depends on {id}, which is not in the file; expected the id of a story", fatal=True
        )
        for entry in entries
        for id in entry.item.depends_on
        if id not in known
    ]
    if len(known) < len(entries):
        twice = next(e.item.id for e in entries if [o.item.id for o in entries].count(e.item.id) > 1)
        defects.append(v.PlanDefect(0, f"two stories have the id {twice}; expected one id for each", fatal=True))
    circle = () if defects else cycle_defects(ordered)
    if any(isinstance(each, dict) and each.get("testCommand") for story in stories for each in _criteria(story)):
        message = "the testCommand of a criterion is not run; make it a gate: flyball run --gate NAME=COMMAND"
        defects.append(v.PlanDefect(0, message))
    title = plain(str(value.get("project") or value.get("description") or ""))
    return v.ImportedPlan("ralph", ordered, (*defects, *circle), title, done=DONE)


def _stories(value: Any) -> list[dict[str, Any]]:
    expected = 'expected an object with a list "userStories", each with id, title, acceptanceCriteria and passes'
    if isinstance(value, list):
        raise v.PlanUnreadable(f"it is a bare list of stories; {expected}")
    if not isinstance(value, dict):
        raise v.PlanUnreadable(f"it holds no object; {expected}")
    if "userStories" not in value:
        shape = 'a list "tasks"' if isinstance(value.get("tasks"), list) else "a product description without stories"
        raise v.PlanUnreadable(f"it is {shape}, not a prd.json of ralph; {expected}")
    stories = value["userStories"]
    for number, story in enumerate(stories if isinstance(stories, list) else [None], start=1):
        missing = [name for name in ("id", "title") if not isinstance(story, dict) or name not in story]
        if missing:
            raise v.PlanUnreadable(f'story {number} has no "{missing[0]}"; {expected}')
        if not isinstance(story.get("passes"), bool) and not _criteria_have_passes(story):
            raise v.PlanUnreadable(f'story {story["id"]} has no "passes" that is true or false; {expected}')
    return list(stories)


def _criteria(story: dict[str, Any]) -> list[Any]:
    found = story.get("acceptanceCriteria")
    return found if isinstance(found, list) else []


def _criteria_have_passes(story: dict[str, Any]) -> bool:
    criteria = _criteria(story)
    return bool(criteria) and all(isinstance(c, dict) and isinstance(c.get("passes"), bool) for c in criteria)


def _entry(story: dict[str, Any]) -> v.PlanEntry:
    id = str(story["id"])
    texts = [c if isinstance(c, str) else str(c.get("text", "")) for c in _criteria(story) if isinstance(c, str | dict)]
    points = tuple(filter(None, (plain(text) for text in texts)))
    words = plain(str(story["title"]))
    description = plain(str(story.get("description") or ""))
    key = v.Key(id, words)
    # `passes` stands at the story itself, or at each of its criteria.
    places = {"": story.get("passes")}
    if not isinstance(story.get("passes"), bool):
        places = {f"criterion {number}": c["passes"] for number, c in enumerate(_criteria(story), start=1)}
    marks = tuple(v.Mark(replace(key, part=place), DONE if passes else "false") for place, passes in places.items())
    done = all(mark.mark == DONE for mark in marks)
    item = Item(
        id,
        words,
        status="completed" if done else "not-started",
        files=files_in(" ; ".join((words, description, *points))),
        depends_on=tuple(map(str, story.get("dependsOn") or ())),
        acceptance=(*points, *((description,) if description and not points else ())) or (v.JUDGED_BY_REVIEW,),
    )
    return v.PlanEntry(item, key, marks)


def passes_paths(raw: bytes) -> dict[v.Key, Path]:
    """The way to each `passes`, by its key."""
    found: dict[v.Key, Path] = {}
    for index, story in enumerate(_stories(decode_json(raw))):
        for mark in _entry(story).marks:
            number = int(mark.key.part.rpartition(" ")[2]) - 1 if mark.key.part else -1
            below: Path = ("passes",) if number < 0 else ("acceptanceCriteria", number, "passes")
            found[mark.key] = ("userStories", index, *below)
    return found
