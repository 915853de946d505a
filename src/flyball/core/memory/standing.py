"""What becomes of a task's learnings: each fact of the task may change the state of some, and the table at the end says how.

A decision is `proposed` when its turn has ended and `kept` once the work it belongs to was accepted; a rejection makes it a proposal
again, going back behind it leaves it `undone`. A person's word is final. What a review or a rollback teaches is a proposal, too, until
later work is accepted: an alarm that ends in nothing teaches nothing. Given the same facts, or only those in `KINDS`, everybody comes to the same states.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from msgspec.structs import replace

from flyball.core.model import batch_events as be, events as ev
from flyball.core.model.effects import Integrate, Prepare, PutBack, Restore, Save
from flyball.core.model.learnings import KnownLearning, Learnings, Made, Standing
from flyball.core.model.outcomes import Integrated, Mended, Prepared, Restored, Saved
from flyball.core.model.task import MAIN

RECENT_COMMITS = 256
RECENT_TREES = 64
TOLD = frozenset({"answer", "default", "adopted"})
"""Sources whose decisions nobody has to accept first: a person said so, or let a default stand."""
ALARMS = frozenset({"review", "rollback"})
"""Sources of anti-patterns that are verified by work which is accepted later."""
_NUMBER = re.compile(r"([0-9]{1,9})(?:[ \t]+(?:because[ \t]+)?(.*))?", re.DOTALL)

Changes = Callable[[KnownLearning], bool]


def remember(learnings: Learnings, event: ev.Event) -> None:
    apply = _TABLE.get(type(event.fact))
    if apply is not None:
        apply(learnings, event.at, event.fact)


def _on_recorded(learnings: Learnings, at: datetime, fact: ev.LearningRecorded) -> None:
    if not fact.turn:
        fact = replace(fact, turn=learnings.turns.get(fact.lane, 0))
    certain = fact.source in TOLD or (fact.kind == "anti-pattern" and fact.source not in ALARMS)
    because = "told by a person" if fact.source in TOLD - {"default"} else ""
    learnings.known[fact.number] = KnownLearning(
        fact, at, "kept" if certain else "proposed", because, learnings.accepted
    )
    if not certain:
        learnings.live[fact.number] = None
    if learnings.most and len(learnings.known) > learnings.most:
        oldest = next(iter(learnings.known))
        del learnings.known[oldest]
        learnings.live.pop(oldest, None)


def _on_revised(learnings: Learnings, at: datetime, fact: ev.LearningRevised) -> None:
    learnings.revisions = (*learnings.revisions, (at, fact))[-(learnings.most or len(learnings.revisions) + 1) :]


def _on_person_spoke(learnings: Learnings, _at: datetime, fact: ev.PersonSpoke) -> None:
    """A person keeps or drops a learning by its number, in whatever state it is."""
    if fact.word not in {"keep", "drop"}:
        return
    said = _NUMBER.fullmatch(fact.text.strip())
    known = learnings.known.get(int(said[1])) if said else None
    if said is None or known is None:
        return
    standing: Standing = "kept" if fact.word == "keep" else "dropped"
    told = f"a person {standing} it"
    because = f"{told}: {said[2].strip()}" if said[2] and said[2].strip() else told
    learnings.known[known.fact.number] = replace(known, standing=standing, because=because, person=True)
    learnings.live.pop(known.fact.number, None)


def _change(learnings: Learnings, which: Changes, standing: Standing, because: str) -> None:
    """Give another state to decisions that follow their work; what was undone has no work to follow any more."""
    changed = [number for number in learnings.live if which(learnings.known[number])]
    for number in changed:
        each = learnings.known[number]
        learnings.known[number] = replace(each, standing=standing, because=because, checkpoint=learnings.accepted)
        if standing == "undone":
            del learnings.live[number]


def _on_begun(learnings: Learnings, _at: datetime, fact: ev.Begun) -> None:
    effect = fact.effect
    if isinstance(effect, Save) and effect.turn:
        learnings.turns[effect.lane] = max(learnings.turns.get(effect.lane, 0), effect.turn)
    if isinstance(effect, Prepare | Save | PutBack | Restore | Integrate):
        learnings.under_way[effect.id] = effect


def _on_ended(learnings: Learnings, _at: datetime, fact: ev.Ended) -> None:
    effect = learnings.under_way.pop(fact.id, None)
    outcome = fact.outcome
    lane = effect.lane if effect is not None else MAIN
    match outcome:
        case Prepared():
            if not learnings.made:
                learnings.trees = (outcome.tree,)
                _make(learnings, outcome.base, lane)
        case Saved() if outcome.accepted and lane == MAIN:
            # What stands on the task's branch is kept; a tree that was there before is a way back, and keeps nothing new.
            learnings.accepted += 1
            back = outcome.tree in learnings.trees[:-1] and outcome.tree != learnings.trees[-1]
            if not back:
                told = f"accepted with {outcome.label}"
                _change(learnings, lambda each: each.standing == "proposed" and each.fact.lane == MAIN, "kept", told)
            learnings.trees = (*learnings.trees, outcome.tree)[-RECENT_TREES:]
            _make(learnings, outcome.commit, MAIN)
        case Saved() | Mended():
            _make(learnings, outcome.commit, lane)
        case Integrated():
            _make(learnings, outcome.commit, MAIN)
        case Restored():
            _take_back(learnings, outcome, lane)


def _make(learnings: Learnings, commit: str, lane: str) -> None:
    learnings.made.pop(commit, None)
    learnings.made[commit] = Made(lane, learnings.turns.get(lane, 0), learnings.accepted)
    if len(learnings.made) > RECENT_COMMITS:
        del learnings.made[next(iter(learnings.made))]


def _take_back(learnings: Learnings, restored: Restored, lane: str) -> None:
    """A lane's tree is an older one: what was decided after it is undone, and what was accepted after it is a proposal again.

    On the task's branch that takes the work of other lanes back, too, which was accepted after it.
    """
    made = learnings.made.get(restored.commit)
    turn = made.turn if made is not None and made.lane == lane else 0
    accepted = made.accepted if made is not None else 0
    told = f"the work was taken back to {restored.commit[:10]}"

    def decided_since(each: KnownLearning) -> bool:
        own = each.fact.kind == "decision" and each.fact.lane == lane
        return own and each.fact.turn > turn and each.standing in {"proposed", "kept"}

    def accepted_since(each: KnownLearning) -> bool:
        return each.standing == "kept" and each.checkpoint > accepted

    _change(learnings, decided_since, "undone", told)
    if lane == MAIN:
        _change(learnings, lambda each: each.fact.lane != MAIN and accepted_since(each), "undone", told)
        because = f"its acceptance was undone: {told}"
        _change(learnings, lambda each: each.fact.lane == MAIN and accepted_since(each), "proposed", because)


def _on_judged(learnings: Learnings, _at: datetime, fact: ev.Judged) -> None:
    learnings.turns[fact.lane] = max(learnings.turns.get(fact.lane, 0), fact.turn)


def _on_moved(learnings: Learnings, _at: datetime, fact: ev.Moved) -> None:
    """Work that a review rejects is no longer accepted, with all that was decided in this round of it."""
    if fact.rejected:
        first = learnings.round_turn

        def which(each: KnownLearning) -> bool:
            return each.fact.lane == fact.lane and each.fact.turn > first and each.standing == "kept"

        _change(learnings, which, "proposed", "a review rejected the work it belongs to")


def _on_item_changed(learnings: Learnings, _at: datetime, fact: ev.ItemChanged) -> None:
    """An item that is complete keeps its decisions; one that is worked on again has them as proposals, one that is to be begun
    anew has none.
    """
    if fact.status == "completed":
        _change_item(learnings, fact.id, "proposed", "kept", f"{fact.id} was accepted")
    elif fact.status == "not-started":
        _change_item(learnings, fact.id, "kept", "undone", f"the work on {fact.id} was taken back")
    else:
        _change_item(learnings, fact.id, "kept", "proposed", f"{fact.id} is {fact.status} again")


def _change_item(
    learnings: Learnings, item: str, old: Literal["proposed", "kept"], new: Standing, because: str
) -> None:
    _change(learnings, lambda each: each.fact.item == item and each.standing == old, new, because)


def _on_lane_opened(learnings: Learnings, _at: datetime, fact: be.LaneOpened) -> None:
    """An item that is begun anew in a lane of its own: what an earlier attempt decided went with that attempt.

    A lane that starts from the earlier work goes on with what was decided there.
    """
    if fact.item and fact.start in {"", fact.base}:
        _change_item(learnings, fact.item, "proposed", "undone", f"{fact.item} was begun anew")


def _on_reopened(learnings: Learnings, _at: datetime, _fact: ev.TaskReopened) -> None:
    learnings.round_turn = max(learnings.turns.values(), default=0)


_TABLE: dict[type[ev.Fact], Callable[[Learnings, datetime, Any], None]] = {
    ev.LearningRecorded: _on_recorded,
    ev.LearningRevised: _on_revised,
    ev.PersonSpoke: _on_person_spoke,
    ev.Begun: _on_begun,
    ev.Ended: _on_ended,
    ev.Judged: _on_judged,
    ev.Moved: _on_moved,
    ev.ItemChanged: _on_item_changed,
    be.LaneOpened: _on_lane_opened,
    ev.TaskReopened: _on_reopened,
}
KINDS = tuple(str(kind.__struct_config__.tag) for kind in _TABLE)
"""The stored names of all facts that are looked at."""
