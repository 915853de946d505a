"""Who is to review: another model than the one that implements, where the settings have one, and a sentence that says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from flyball.core.loop.casting import in_order, independence, reviewers
from flyball.core.model.task import AgentChoice, AgentSpec, Author, Player
from flyball.core.providers.models import models_of
from flyball.core.roles.workers import reviewer_names


class Reviewing(msgspec.Struct, frozen=True):
    """The roles with reviewers in them, and what a person should know of those."""

    roles: dict[str, AgentChoice]
    notes: tuple[str, ...]


def with_reviewers(
    default: AgentChoice,
    chosen: Mapping[str, AgentChoice],
    specs: Sequence[AgentSpec],
    roles: Iterable[str],
    author: str,
) -> Reviewing:
    """Give reviews to another model than the implementer's, unless a person set who reviews.

    Who really implemented is known only later: each review then goes to another model than that one.
    """
    result = {"default": default, **chosen}
    implementer = result.get(author, default)
    reviews = reviewer_names()
    said: dict[str, list[str]] = {}
    for role in (role for role in dict.fromkeys(roles) if role in reviews):
        choice = result.get(role, default)
        if not choice.fixed:
            choice = _other(implementer, choice, (*result.values(),), specs, kept=role in chosen)
        result[role] = choice
        said.setdefault(_note(choice, implementer, specs), []).append(role)
    return Reviewing(result, tuple(_of_all(names, note) for note, names in said.items()))


def _other(
    implementer: AgentChoice,
    own: AgentChoice,
    choices: Iterable[AgentChoice],
    specs: Sequence[AgentSpec],
    *,
    kept: bool,
) -> AgentChoice:
    """The first other model: an agent as it is set, one of an agent's several, another role's."""
    named = [Player(choice.agent, choice.model) for choice in choices]
    every = [*(Player(s.name, s.model) for s in specs), *reviewers(own, specs), *named]
    author = Author("author", implementer.agent, implementer.model, implementer.model)
    if not implementer.model:
        # Which of its models an agent takes by itself is not known yet.
        several = {spec.name for spec in specs if models_of(spec)}
        every = [p for p in every if p.agent != implementer.agent or not p.model or p.agent not in several]
    others, _ = in_order(dict.fromkeys(every), (author,), specs)
    if not others:
        return own
    player = others[0]
    fallback = own.fallback if kept else next((s.fallback for s in specs if s.name == player.agent), ())
    return AgentChoice(player.agent, player.model, tuple(name for name in fallback if name != player.agent))


def takes_no_model(spec: AgentSpec) -> bool:
    """Whether a program is never told a model: its command has no place for one."""
    return spec.type == "command" and not any("{model}" in word for word in spec.command)


def spoken(choice: AgentChoice) -> str:
    return f"{choice.agent} ({choice.model})" if choice.model else choice.agent


def _of_all(roles: list[str], note: str) -> str:
    """One sentence for all roles of which the same is true."""
    *others, last = roles
    return f"{', '.join(others)} and {last} use {note}" if others else f"{last} uses {note}"


def _note(choice: AgentChoice, implementer: AgentChoice, specs: Sequence[AgentSpec]) -> str:
    author = Author("author", implementer.agent, implementer.model, implementer.model)
    match independence(Player(choice.agent, choice.model), (author,), specs):
        case "other":
            return f"{spoken(choice)}, another model than the implementer's {spoken(implementer)}"
        case "unknown":
            return f"{spoken(choice)}; whether that is another model than the implementer's {spoken(implementer)} is not known"
        case "same":
            pass
    if choice.fixed:
        return "the same model as the implementer, as configured: the author reviews its own work"
    if several := next((models_of(s) for s in specs if s.name == choice.agent and len(models_of(s)) > 1), ()):
        return f"another model of {choice.agent} than the one that will have implemented: {' or '.join(several)}"
    return "the same model as the implementer: the author reviews its own work, since no other model is configured"
