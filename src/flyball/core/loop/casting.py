"""Who plays a role now. Reviews go to another model than the one that really implemented, wherever there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from flyball.core.model.events import LimitHit
from flyball.core.model.state import Lane, State
from flyball.core.model.task import AgentChoice, AgentSpec, Author, Player
from flyball.core.providers.models import MODELS, account_of, maker, models_of, same_model

Independence = Literal["other", "unknown", "same"]
_ORDER: tuple[Independence, ...] = ("other", "unknown", "same")


def player_for(state: State, lane: Lane, role: str, *, reviewing: bool) -> Player | None:
    """The agent and model to play a role now; None while everyone who may is limited or not there."""
    players = _may_play(state, lane, role, reviewing=reviewing)
    return next((player for player in players if _limit_of(state, player.agent) is None), None)


def agents_for(state: State, lane: Lane, role: str, *, reviewing: bool) -> tuple[str, ...]:
    """The agents one of whom is to play a role, there or not."""
    choice = state.task.settings.choice(role)
    players = _may_play(state, lane, role, reviewing=reviewing) or _in_preference(choice, state.task.agents)
    return tuple(dict.fromkeys(player.agent for player in players))


def _may_play(state: State, lane: Lane, role: str, *, reviewing: bool) -> list[Player]:
    """Those who are there, in the order of preference; an author reviews only where nobody else is."""
    choice, specs = state.task.settings.choice(role), state.task.agents
    if not reviewing or choice.fixed:
        present = [player for player in _in_preference(choice, specs) if player.agent not in state.absent]
        # A stall may ask for another agent than the one that worked so far.
        turn = "other-agent" in lane.loop.rungs and not reviewing
        return present[1:] + present[:1] if turn else present
    there = [p for p in reviewers(choice, specs) if p.agent not in state.absent and p not in state.unusable]
    others, own = in_order(there, authors(state, lane), specs)
    waited_for = any(not _is_out_of_reach(state, player.agent) for player in others)
    return others if waited_for else others + own


def in_order(
    players: Iterable[Player], written: Sequence[Author], specs: Sequence[AgentSpec]
) -> tuple[list[Player], list[Player]]:
    """Reviewers as they are to be asked: other models before those of which it is not known; and, apart, the authors themselves."""
    found: dict[Independence, list[Player]] = {word: [] for word in _ORDER}
    for player in players:
        found[independence(player, written, specs)].append(player)
    return found["other"] + found["unknown"], _least_involved(found["same"], written, specs)


def reviewers(choice: AgentChoice, specs: Sequence[AgentSpec]) -> list[Player]:
    """Everyone who could review: as set, every agent as it is, every model of theirs."""
    as_they_are = (Player(spec.name, spec.model) for spec in specs)
    all_models = (Player(spec.name, model) for spec in specs for model in models_of(spec))
    return list(dict.fromkeys((*_in_preference(choice, specs), *as_they_are, *all_models)))


def _in_preference(choice: AgentChoice, specs: Sequence[AgentSpec]) -> list[Player]:
    """The role's own, then those who stand in for it, each with its own model."""
    own = {spec.name: spec.model for spec in specs}
    return [Player(choice.agent, choice.model), *(Player(name, own.get(name, "")) for name in choice.fallback)]


def _least_involved(players: list[Player], written: Sequence[Author], specs: Sequence[AgentSpec]) -> list[Player]:
    """Authors all of them: rather one who did not have the first hand in it."""
    first = next((author.role for author in written), "")
    implemented = [author for author in written if author.role == first]
    return sorted(players, key=lambda player: independence(player, implemented, specs) == "same")


def _limit_of(state: State, agent: str) -> LimitHit | None:
    """The limit an agent's account has met, if it is not over."""
    hit = state.limits.get(account(state, agent))
    return hit if hit is not None and hit.until > state.now else None


def _is_out_of_reach(state: State, agent: str) -> bool:
    """Whether an agent's limit lasts longer than anybody waits for a review."""
    hit = _limit_of(state, agent)
    if hit is None:
        return False
    return hit.until - state.now > _patience(state) or is_beyond_patience(state, hit.since)


def is_beyond_patience(state: State, since: datetime | None) -> bool:
    """Whether a provider fails for so long that waiting on is no answer."""
    return since is not None and state.now - since >= _patience(state)


def _patience(state: State) -> timedelta:
    return timedelta(seconds=state.task.settings.limits.overload_patience_s)


def account(state: State, agent: str) -> str:
    """Whose limits an agent lives under."""
    spec = next((spec for spec in state.task.agents if spec.name == agent), None)
    return account_of(spec) if spec else agent


def authors(state: State, lane: Lane) -> tuple[Author, ...]:
    """Who wrote what is to be reviewed; before anybody did, who is to."""
    if lane.authors:
        return lane.authors
    choice = state.task.settings.choice(lane.stage)
    return (Author("", choice.agent, choice.model, choice.model),)


def is_author_alone(state: State, lane: Lane) -> bool:
    """Whether nobody but the model that wrote the work is there to review it."""
    specs, written = state.task.agents, authors(state, lane)
    everyone = reviewers(state.task.settings.choice("default"), specs)
    there = [p for p in everyone if p.agent not in state.absent and p not in state.unusable]
    return all(independence(player, written, specs) == "same" for player in there)


def independence(player: Player, written: Iterable[Author], specs: Iterable[AgentSpec]) -> Independence:
    """Whether a player is another model than all who wrote; the worst word counts."""
    known = {spec.name: spec for spec in specs}
    found = {_apart(player, author, known) for author in written}
    return next((word for word in reversed(_ORDER) if word in found), "other")


def _apart(player: Player, author: Author, specs: dict[str, AgentSpec]) -> Independence:
    first, second = specs.get(player.agent), specs.get(author.agent)
    one_program = player.agent == author.agent or (first and second and account_of(first) == account_of(second))
    if one_program and player.model == author.asked:
        return "same"
    if player.model and author.model:
        return "same" if same_model(player.model, author.model) else "other"
    if one_program:
        return "unknown"
    makers = {maker(spec) for spec in (first, second) if spec}
    return "other" if len(makers) == 2 and makers <= MODELS.keys() else "unknown"
