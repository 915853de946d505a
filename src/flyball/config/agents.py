"""Which agents there are, and which of them plays each role; reviewers get another model than the implementer."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from flyball.config import schema
from flyball.config.errors import ConfigError, FlagInvalid
from flyball.config.file import NO_SETTINGS, FileConfig, nearest
from flyball.core.loop.casting import in_order, independence, reviewers
from flyball.core.model.task import CLI_TYPES, AgentChoice, AgentSpec, Author, Player
from flyball.core.providers.models import models_of
from flyball.core.roles.workers import reviewer_names

TYPED = "command"
"""The name of an agent given by --agent-command alone."""
KNOWN: dict[str, AgentSpec] = {name: AgentSpec(name, name) for name in CLI_TYPES}
"""Agents that need no table."""


class Cast(msgspec.Struct, frozen=True):
    agents: tuple[AgentSpec, ...]
    roles: dict[str, AgentChoice]
    notes: tuple[str, ...]


def cast_roles(
    file: FileConfig | None,
    roles: Iterable[str],
    *,
    agent: str | None,
    command: str | None,
    model: str | None,
    known: Iterable[str] = (),
    author: str = "",
) -> Cast:
    """Give every role an agent; `agent`, `command` and `model` are what was typed and win over the file.

    `known` are the roles of all workflows: a file may speak of those that are not played now. `author` is the role that writes
    the product: reviewers are to be another model than its.
    """
    said, there = file or NO_SETTINGS, tuple(known) or tuple(roles)
    for role in said.roles:
        if role not in there:
            expected = f"expected one of: {', '.join(sorted(set(there)))}"
            raise said.origin.invalid(("roles", role), f"there is no such role{nearest(role, there)}; {expected}")
    agents, default, chosen = _choices(said, agent, command, model)
    cast, notes = _with_reviewers(default, chosen, agents, roles, author)
    return Cast(agents, cast, (*notes, *_on_model(model, cast, agents, roles)))


def _choices(
    file: FileConfig, agent: str | None, command: str | None, model: str | None
) -> tuple[tuple[AgentSpec, ...], AgentChoice, dict[str, AgentChoice]]:
    """The agents, the one that plays what nobody else does, and who the file says plays what."""
    if command is not None:
        spec = _parse_command(agent or TYPED, command, model or "")
        return (spec,), AgentChoice(spec.name, spec.model), {}
    named = {name: _spec(file, name, table) for name, table in file.agents.items()}
    _check_names(file, named)
    leading = _leading(file, named, agent)
    wanted = {leading.name, *named, *_named_in(file)}
    specs = {name: named.get(name) or KNOWN[name] for name in (*named, *KNOWN) if name in wanted}
    default = AgentChoice(leading.name, model or file.top.model or leading.model, leading.fallback)
    return tuple(specs.values()), default, {role: _choice(t, default, specs) for role, t in file.roles.items()}


def _parse_command(name: str, line: str, model: str) -> AgentSpec:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        problem = "ends with a backslash" if "escaped" in str(error) else "has a quotation mark that is not closed"
        raise FlagInvalid("--agent-command", f"expected a command line, but {line!r} {problem}") from error
    if not words or not words[0]:
        raise FlagInvalid("--agent-command", 'expected a program and its arguments, but it is ""')
    return AgentSpec(name, command=words, model=model)


def _spec(file: FileConfig, name: str, table: schema.AgentTable) -> AgentSpec:
    kind = table.type or ("command" if table.command or name not in KNOWN else KNOWN[name].type)
    for where, problem in _faults(kind, table):
        raise file.origin.invalid(("agents", name, *where), problem)
    script = "" if table.script is None else str(file.origin.path.parent / table.script)
    said = msgspec.structs.asdict(table)
    return AgentSpec(name, **{**said, "type": kind, "command": table.command or (), "script": script})


def _faults(kind: str, table: schema.AgentTable) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What does not fit together in an agent's table, and where; a known agent's command only says where its program is."""
    if kind == "scripted" and table.script is None:
        yield (), 'expected a key script, the path of the script to play, since type is "scripted"'
    if kind == "scripted" and table.command is not None:
        yield ("command",), 'expected none, since type is "scripted"'
    if kind != "scripted" and kind not in KNOWN and table.command is None:
        yield (), 'expected a key command, the program first: ["program", "argument"]'
    if table.command is not None and not table.command[0].strip():
        yield ("command", 0), 'expected the name of a program, but it is ""'
    if kind != "scripted" and table.script is not None:
        yield ("script",), 'expected none, unless type is "scripted"'
    if kind in KNOWN and table.exit_signal != "report":
        yield ("exit_signal",), "expected none: this agent can report"
    if kind == "command" and table.models and not any("{model}" in word for word in table.command or ()):
        yield ("models",), "expected none, unless the command has {model} in it"
    for name in ("args", "max_turns", "budget_usd") if kind not in KNOWN else ():
        if getattr(table, name):
            yield (name,), f"expected none, unless type is a known agent: {', '.join(KNOWN)}"


def _named_in(file: FileConfig) -> Iterator[str]:
    for table in file.agents.values():
        yield from table.fallback
    for role in file.roles.values():
        yield from (role.agent, *(role.fallback or ())) if role.agent else (role.fallback or ())


def _check_names(file: FileConfig, specs: Mapping[str, AgentSpec]) -> None:
    for name, table in file.agents.items():
        for place, other in enumerate(table.fallback):
            _check_agent(file, specs, other, ("agents", name, "fallback", place), but=name)
    for role, chosen in file.roles.items():
        if chosen.agent is not None:
            _check_agent(file, specs, chosen.agent, ("roles", role, "agent"))
        for place, other in enumerate(chosen.fallback or ()):
            _check_agent(file, specs, other, ("roles", role, "fallback", place), but=chosen.agent or "")
    if file.top.agent is not None:
        _check_agent(file, specs, file.top.agent, ("agent",))


def _check_agent(
    file: FileConfig, specs: Mapping[str, AgentSpec], name: str, key: tuple[str | int, ...], but: str = ""
) -> None:
    if name not in specs and name not in KNOWN:
        raise file.origin.invalid(key, f"there is no agent {name}{nearest(name, specs)}; {_expected_agents(specs)}")
    if name == but:
        raise file.origin.invalid(key, f"expected another agent, since {name} cannot stand in for itself")


def _expected_agents(specs: Iterable[str]) -> str:
    return f"expected one of: {', '.join(dict.fromkeys((*specs, *KNOWN)))}"


def _leading(file: FileConfig, specs: Mapping[str, AgentSpec], typed: str | None) -> AgentSpec:
    if typed is not None:
        if typed not in specs and typed not in KNOWN:
            there = (*specs, *KNOWN)
            raise FlagInvalid("--agent", f"there is no agent {typed}{nearest(typed, there)}; {_expected_agents(specs)}")
        return specs.get(typed) or KNOWN[typed]
    if file.top.agent is not None:
        return specs.get(file.top.agent) or KNOWN[file.top.agent]
    if len(specs) > 1:
        names = ", ".join(specs)
        raise file.origin.invalid(("agents",), f'which agent works? Expected a key agent = "NAME", one of: {names}')
    if not specs:
        raise ConfigError(
            'No agent is configured: expected agent = "NAME" in flyball.toml, or an [agents.NAME] table with a command. '
            f"Add one, or type: flyball run --agent NAME, one of: {', '.join(KNOWN)}"
        )
    return next(iter(specs.values()))


def _choice(table: schema.RoleTable, default: AgentChoice, specs: Mapping[str, AgentSpec]) -> AgentChoice:
    spec = specs[table.agent or default.agent]
    own = default if spec.name == default.agent else AgentChoice(spec.name, spec.model, spec.fallback)
    fallback = own.fallback if table.fallback is None else table.fallback
    kept = tuple(name for name in fallback if name != spec.name)
    fixed = table.agent is not None or table.model is not None
    return AgentChoice(spec.name, table.model or own.model, kept, fixed)


def _on_model(
    model: str | None, cast: Mapping[str, AgentChoice], agents: Iterable[AgentSpec], roles: Iterable[str]
) -> Iterator[str]:
    """Whom a typed model is not for, and why."""
    if model is None:
        return
    leading = cast["default"].agent
    for spec in agents:
        # Whether a program is never told a model: its command has no place for one.
        if spec.name == leading and (spec.type == "command" and not any("{model}" in word for word in spec.command)):
            yield f"--model {model}: the command of {spec.name} has no {{model}} in it, so the agent does not get it; reports name the model you gave"
    kept = [role for role in dict.fromkeys(roles) if role in cast and cast[role].fixed and cast[role].model != model]
    others = [f"{role} ({_with_model(cast[role])})" for role in kept]
    if others:
        yield f"--model {model} is not for {', '.join(others)}, as flyball.toml sets"
    reviews_others = reviewer_names()
    reviews = [r for r in dict.fromkeys(roles) if r in reviews_others and r not in kept and cast[r].model != model]
    if reviews:
        yield f"--model {model} is not for {', '.join(reviews)}: another model reviews; to change that, set model below [roles.{reviews[0]}]"


def _with_reviewers(
    default: AgentChoice,
    chosen: Mapping[str, AgentChoice],
    specs: Sequence[AgentSpec],
    roles: Iterable[str],
    author: str,
) -> tuple[dict[str, AgentChoice], tuple[str, ...]]:
    """Give reviews to another model than the implementer's, unless a person set who reviews; the roles, and what a person should know of them.

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
    return result, tuple(_of_all(names, note) for note, names in said.items())


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


def _with_model(choice: AgentChoice) -> str:
    return f"{choice.agent} ({choice.model})" if choice.model else choice.agent


def _of_all(roles: list[str], note: str) -> str:
    """One sentence for all roles of which the same is true."""
    *others, last = roles
    return f"{', '.join(others)} and {last} use {note}" if others else f"{last} uses {note}"


def _note(choice: AgentChoice, implementer: AgentChoice, specs: Sequence[AgentSpec]) -> str:
    author = Author("author", implementer.agent, implementer.model, implementer.model)
    match independence(Player(choice.agent, choice.model), (author,), specs):
        case "other":
            return f"{_with_model(choice)}, another model than the implementer's {_with_model(implementer)}"
        case "unknown":
            return f"{_with_model(choice)}; whether that is another model than the implementer's {_with_model(implementer)} is not known"
        case "same":
            pass
    if choice.fixed:
        return "the same model as the implementer, as configured: the author reviews its own work"
    if several := next((models_of(s) for s in specs if s.name == choice.agent and len(models_of(s)) > 1), ()):
        return f"another model of {choice.agent} than the one that implemented: {' or '.join(several)}"
    return "the same model as the implementer: the author reviews its own work, since no other model is configured"
