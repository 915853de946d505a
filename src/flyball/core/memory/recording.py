"""What is recorded as a learning: decisions of a report, and the lesson of a rejection, a rollback or a conflict.

Code records them, from facts alone. What stood in the turn's prompt as a learning, or is known already, is not recorded again.
"""

from msgspec.structs import asdict

from flyball.core.claims.values import Claim
from flyball.core.memory.recalling import CHOICE_KEPT, TITLE_KEPT
from flyball.core.memory.settling import reference
from flyball.core.memory.words import normalise
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import Fact, LearningRecorded, LearningRevised, LearningSource
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State
from flyball.core.model.task import Commit
from flyball.core.text.scrubbing import clean

MOST_FILES = 8
_TITLE, _CONTEXT = 200, 1000
_LONG_ENOUGH = 4
"""Shorter choices ("yes") may answer different questions."""


def decisions(
    state: State, lane: Lane, effect: RunAgent, turn: TurnEnded, measured: Measurement | None = None
) -> tuple[LearningRecorded, ...]:
    known = _known_sayings(state, lane)
    facts: list[LearningRecorded] = []
    for decision in turn.claim.decisions:
        said = _sayings(decision.title, decision.choice)
        if said & known:
            continue
        known |= said
        learnt = LearningRecorded(
            state.learned + len(facts) + 1,
            "decision",
            **asdict(decision),
            item=effect.item or lane.item,
            files=measured.changed[:MOST_FILES] if measured else (),
            commit=Commit(measured.candidate) if measured else Commit(""),
            source="report",
            turn=effect.turn,
            lane=lane.name,
        )
        facts.append(learnt)
    return tuple(facts)


def anti_pattern(
    state: State,
    lane: Lane,
    source: LearningSource,
    title: str,
    context: str,
    *,
    after: int = 0,
    item: str = "",
    files: tuple[str, ...] = (),
    turn: int = 0,
) -> LearningRecorded:
    """What is to be avoided; `after` is how many learnings are recorded together with it, before it."""
    judged = lane.loop.judged
    return LearningRecorded(
        state.learned + after + 1,
        "anti-pattern",
        title[:_TITLE],
        context[:_CONTEXT],
        item=item or lane.item,
        files=files[:MOST_FILES],
        source=source,
        turn=turn or (judged.turn if judged else 0),
        lane=lane.name,
    )


def revisions(state: State, lane: Lane, effect: RunAgent, claim: Claim) -> tuple[Fact, ...]:
    """What a reviewer says of learnings it was shown; others, and its word as an author, count for nothing."""
    if not effect.copy or lane.recalled is None:
        return ()
    told = lane.recalled
    shown = {each.id for each in told.learnings} | {each.old for each in told.contradictions}
    new = {each.new for each in told.contradictions}
    facts: list[Fact] = []
    for said in (*claim.supersedes, *claim.invalidates):
        old, favours = reference(state.task.id, said.id), reference(state.task.id, said.by)
        if said in claim.supersedes and not favours:
            favours = next((each.new for each in told.contradictions if each.old == old), "")
        invalid = said in claim.invalidates and not said.by
        if old in shown and (invalid or favours in new):
            facts.append(LearningRevised(old, said.because[:_CONTEXT], effect.role, favours, effect.turn, lane.name))
    return tuple(facts)


def panel_revisions(state: State, lane: Lane) -> tuple[Fact, ...]:
    answers = lane.panel.answers.values() if lane.panel is not None else ()
    return tuple(fact for effect, turn in answers for fact in revisions(state, lane, effect, turn.claim))


def _known_sayings(state: State, lane: Lane) -> set[str]:
    """What need not be recorded: what the prompt gave as learnings, and what the task has recorded and not undone."""
    given = lane.recalled.learnings if lane.recalled is not None else ()
    own = [each.fact for each in state.learnings.known.values() if each.standing not in {"undone", "dropped"}]
    said = [(each.title, each.choice) for each in given] + [(fact.title, fact.choice) for fact in own]
    return {saying for title, choice in said for saying in _sayings(title, choice)}


def _sayings(title: str, choice: str) -> set[str]:
    """What a decision says, in the two forms it may be repeated in: title and choice together, and the choice alone."""
    choice = clean(choice, CHOICE_KEPT)
    both, alone = normalise(f"{clean(title, TITLE_KEPT)} {choice}"), normalise(choice)
    return {both} | ({alone} if len(alone.split()) >= _LONG_ENOUGH else set())
