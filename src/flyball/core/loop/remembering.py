"""What a turn is to remember: the question a recall answers, asked before the turn begins, whatever the workflow."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from flyball.core.model.effects import Recall
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit, Item

WORDS_ASKED = 1000
FILES_ASKED = 16
RELATED_ASKED = 32


def recall_first(
    state: State, lane: Lane, *, reviewing: bool, commit: str = "", shown: Mapping[str, Commit] = MappingProxyType({})
) -> Recall | None:
    """The recall the lane's next turn needs; none where the same was answered already since the stage began."""
    item = next((each for each in state.items if each.id == lane.item), None)
    under_way = tuple(each for each in state.items if each.status == "in-progress")
    about = (item,) if item is not None else under_way or state.items
    texts = [] if item is not None else [state.task.request]
    texts += [text for each in about for text in (each.text, *each.acceptance)]
    wanted = Recall(
        lane.effect_id(f"recall/{lane.recalls + 1}"),
        lane=lane.name,
        words=" ".join(" ".join(texts).split())[:WORDS_ASKED],
        item=lane.item,
        files=_files(lane, about),
        related=_related_items(state, item) if item is not None else (),
        learned=state.learned,
        reviewing=reviewing,
        commit=Commit(commit),
        shown=dict(shown),
    )
    known = lane.recall
    return None if known and replace(known, id=wanted.id, at=None, attempt=1) == wanted else wanted


def _files(lane: Lane, about: tuple[Item, ...]) -> tuple[str, ...]:
    measured = lane.loop.last or lane.loop.entry
    named = [path for item in about for path in item.files]
    found = [finding.file for finding in lane.loop.findings if finding.file]
    changed = measured.changed if measured is not None else ()
    return tuple(dict.fromkeys((*found, *changed, *named)))[:FILES_ASKED]


def _related_items(state: State, item: Item) -> tuple[str, ...]:
    items = {each.id: each for each in state.items}
    found = dict.fromkeys([item.id, *(i.id for i in state.items if item.group and i.group == item.group)])
    chain = list(item.depends_on)
    while chain and len(found) < RELATED_ASKED:
        name = chain.pop(0)
        if name not in found:
            found[name] = None
            chain += items[name].depends_on if name in items else ()
    return tuple(found)[:RELATED_ASKED]
