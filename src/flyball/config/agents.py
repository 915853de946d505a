"""Which agents there are, and which of them plays each role; reviewers get another model than the implementer."""

import shlex
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from flyball.config import schema
from flyball.config.errors import ConfigError, FlagInvalid
from flyball.config.file import FileConfig, nearest
from flyball.core.task import CLI_TYPES, AgentChoice, AgentSpec

TYPED = "command"
"""The name of an agent given by --agent-command alone."""
REVIEWING = frozenset({"qa", "reviewer", "code-reviewer", "security-auditor", "performance-reviewer", "spec-auditor"})
IMPLEMENTER = "implementer"
KNOWN: dict[str, AgentSpec] = {name: AgentSpec(name, name) for name in CLI_TYPES}
"""Agents that need no table."""


class Cast(msgspec.Struct, frozen=True):
    """The agents, who plays what, and what a person should know of it."""

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
) -> Cast:
    """Give every role an agent; `agent`, `command` and `model` are what was typed and win over the file.

    `known` are the roles of all workflows: a file may speak of those that are not played now.
    """
    if command is not None:
        spec = _typed(agent or TYPED, command, model or "")
        return _with_reviewers(AgentChoice(spec.name, spec.model), {}, {spec.name: spec}, roles)
    named = {name: _spec(file, name, table) for name, table in file.agents.items()} if file else {}
    if file:
        _check_names(file, named, tuple(known) or roles)
    leading = _leading(file, named, agent)
    wanted = {leading.name, *named, *(_named_in(file) if file else ())}
    specs = {name: named.get(name) or KNOWN[name] for name in (*named, *KNOWN) if name in wanted}
    own_model = model or (file.top.model if file else None) or leading.model
    default = AgentChoice(leading.name, own_model, leading.fallback)
    tables = file.roles if file else {}
    chosen = {role: _choice(table, default, specs) for role, table in tables.items()}
    return _with_reviewers(default, chosen, specs, roles, {role: _is_explicit(t) for role, t in tables.items()})


def _typed(name: str, line: str, model: str) -> AgentSpec:
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
    return AgentSpec(
        name,
        kind,
        table.command or (),
        table.model,
        table.env,
        table.exit_signal,
        script,
        table.fallback,
        table.args,
        table.max_turns,
        table.budget_usd,
    )


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
    for name in ("args", "max_turns", "budget_usd") if kind not in KNOWN else ():
        if getattr(table, name):
            yield (name,), f"expected none, unless type is a known agent: {', '.join(KNOWN)}"


def _named_in(file: FileConfig) -> Iterator[str]:
    """Every agent the file names anywhere."""
    for table in file.agents.values():
        yield from table.fallback
    for role in file.roles.values():
        yield from (role.agent, *(role.fallback or ())) if role.agent else (role.fallback or ())


def _check_names(file: FileConfig, specs: Mapping[str, AgentSpec], roles: Iterable[str]) -> None:
    for name, table in file.agents.items():
        for place, other in enumerate(table.fallback):
            _check_agent(file, specs, other, ("agents", name, "fallback", place), but=name)
    for role, chosen in file.roles.items():
        if role not in set(roles):
            known = ", ".join(sorted(set(roles)))
            raise file.origin.invalid(
                ("roles", role), f"there is no such role{nearest(role, roles)}; expected one of: {known}"
            )
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
        raise file.origin.invalid(key, f"there is no agent {name}{nearest(name, specs)}; {_known(specs)}")
    if name == but:
        raise file.origin.invalid(key, f"expected another agent, since {name} cannot stand in for itself")


def _known(specs: Iterable[str]) -> str:
    return f"expected one of: {', '.join(dict.fromkeys((*specs, *KNOWN)))}"


def _leading(file: FileConfig | None, specs: Mapping[str, AgentSpec], typed: str | None) -> AgentSpec:
    if typed is not None:
        if typed not in specs and typed not in KNOWN:
            there = (*specs, *KNOWN)
            raise FlagInvalid("--agent", f"there is no agent {typed}{nearest(typed, there)}; {_known(specs)}")
        return specs.get(typed) or KNOWN[typed]
    if file and file.top.agent is not None:
        return specs.get(file.top.agent) or KNOWN[file.top.agent]
    if file and len(specs) > 1:
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
    return AgentChoice(spec.name, table.model or own.model, tuple(name for name in fallback if name != spec.name))


def _is_explicit(table: schema.RoleTable) -> bool:
    return table.agent is not None or table.model is not None


def _with_reviewers(
    default: AgentChoice,
    chosen: Mapping[str, AgentChoice],
    specs: Mapping[str, AgentSpec],
    roles: Iterable[str],
    explicit: Mapping[str, bool] | None = None,
) -> Cast:
    given = explicit or {}
    result = {"default": default, **chosen}
    implementer = result.get(IMPLEMENTER, default)
    said: dict[str, list[str]] = {}
    for role in (role for role in dict.fromkeys(roles) if role in REVIEWING):
        choice = result.get(role, default)
        if not given.get(role) and (other := _other(implementer, result.values(), specs)) is not None:
            kept = choice.fallback if role in chosen else other.fallback
            choice = AgentChoice(other.agent, other.model, tuple(name for name in kept if name != other.agent))
        result[role] = choice
        said.setdefault(_note(choice, implementer, chosen_by_person=bool(given.get(role))), []).append(role)
    return Cast(tuple(specs.values()), result, tuple(_of_all(names, note) for note, names in said.items()))


def _other(
    implementer: AgentChoice, choices: Iterable[AgentChoice], specs: Mapping[str, AgentSpec]
) -> AgentChoice | None:
    configured = (*(AgentChoice(s.name, s.model, s.fallback) for s in specs.values()), *choices)
    # Which model an agent takes where none is named is not known, so that it is another one is not either.
    sure = (choice for choice in configured if choice.model or choice.agent != implementer.agent)
    return next((choice for choice in sure if _model(choice) != _model(implementer)), None)


def _model(choice: AgentChoice) -> str:
    """What tells models apart: the name, or the agent where none is given."""
    return choice.model or f"agent {choice.agent}"


def _of_all(roles: list[str], note: str) -> str:
    """One sentence for all roles of which the same is true."""
    *others, last = roles
    return f"{', '.join(others)} and {last} use {note}" if others else f"{last} uses {note}"


def _note(choice: AgentChoice, implementer: AgentChoice, *, chosen_by_person: bool) -> str:
    if _model(choice) != _model(implementer):
        return f"{_spoken(choice)}, another model than the implementer's {_spoken(implementer)}"
    why = "as configured" if chosen_by_person else "no other is configured"
    return f"the same model as the implementer: {why}"


def _spoken(choice: AgentChoice) -> str:
    return f"{choice.agent} ({choice.model})" if choice.model else choice.agent
