"""Builds a task's settings: what was typed wins over the file, the file over the defaults."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from flyball.config import schema
from flyball.config.agents import cast_roles
from flyball.config.errors import ConfigError, FlagInvalid
from flyball.config.file import NO_SETTINGS, FileConfig, expectation, given_values, nearest, read_user, spell_value
from flyball.config.home import home_folder
from flyball.core.claims.reviews import EvaluateSettings
from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import (
    AgentSpec,
    BreakerSettings,
    CodeLimits,
    Gate,
    Limits,
    QaSettings,
    RolePrompt,
    Settings,
)
from flyball.core.workflows.registry import DEFAULT, UNUSABLE, WORKFLOWS, own_strikes, without_review

OTHER_STAGES = "other"
UNCONFINED = "the agent has your permissions, limited only by its own safeguards"

T = TypeVar("T")

_SECONDS = frozenset(
    {"turn_timeout", "idle_timeout", "crash_backoff", "overload_backoff", "overload_patience", "usage_limit_wait"}
)


class RunFlags(msgspec.Struct, frozen=True):
    """The options of `run` that are settings, as typed; None is not typed."""

    workflow: str | None = None
    agent: str | None = None
    agent_command: str | None = None
    model: str | None = None
    gates: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    setup: str | None = None
    attended: bool | None = None
    sandbox: str | None = None
    merge: bool | None = None
    parallel: int | None = None
    max_iterations: int | None = None
    max_cycles: int | None = None
    max_turns: int | None = None
    max_hours: float | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    turn_timeout: float | str | None = None
    idle_timeout: float | str | None = None
    approve_plan: bool | None = None
    optional: bool | None = None
    failing: str | None = None
    review: str | None = None
    measure_again: bool | None = None


class Configured(msgspec.Struct, frozen=True):
    """The outcome: settings for the task, agents for the wiring, and what a person should know."""

    workflow: str
    settings: Settings
    agents: tuple[AgentSpec, ...]
    notes: tuple[str, ...] = ()
    sandbox_optional: bool = False
    """Whether an attended run may go without the sandbox."""


def build(
    file: FileConfig | None,
    flags: RunFlags,
    *,
    terminal: bool = False,
    prompts: Mapping[str, RolePrompt] = MappingProxyType({}),
) -> Configured:
    """Put file and flags together and check what only both can tell; the machine is not looked at.

    `terminal` says whether somebody sits at one, `prompts` what the project says to its roles.
    """
    said = file or NO_SETTINGS
    top, options, ship, imports = said.top, said.gate_options, said.ship, said.imports
    for name in ("parallel", "workflow", "agent", "model"):
        _flag(flags, name, schema.TopLevel)
    workflow = workflow_of(file, flags)
    cast = cast_roles(
        file,
        WORKFLOWS[workflow].roles,
        agent=flags.agent,
        command=flags.agent_command,
        model=flags.model,
        author=WORKFLOWS[workflow].author,
        known=tuple(role for each in WORKFLOWS.values() for role in each.roles),
    )
    attended = _first(flags.attended, top.attended, terminal)
    sandbox = _first(flags.sandbox, top.sandbox, "auto")
    settings = msgspec.structs.replace(
        gate_settings(file, flags),
        protected=(*options.protected, *(each.path for each in prompts.values())),
        may_change=(*options.may_change, *flags.may_change),
        unnoticed=options.unnoticed,
        failing=_first(_flag(flags, "failing", schema.GateOptions), options.failing),
        review=_review(workflow, flags, top.review),
        roles=cast.roles,
        prompts=dict(prompts),
        limits=with_limits(_change_limits(Limits(), given_values(said.limits)), flags),
        breaker=_breaker(said),
        monitor=Thresholds(**said.monitor),
        code=CodeLimits(**said.code),
        qa=msgspec.convert(said.qa, QaSettings),
        evaluate=EvaluateSettings(**said.evaluate),
        documents=_first(top.documents, Settings().documents),
        attended=attended,
        approve_plan=_first(flags.approve_plan, top.approve_plan, False),
        parallel=top.parallel if flags.parallel is None else flags.parallel,
        optional_items=_first(flags.optional, imports.optional, False),
        parallel_stories=imports.parallel_stories,
        close_issues=imports.close_issues,
        gates_side_by_side=options.side_by_side,
        measure_again=bool(flags.measure_again),
        merge=_first(flags.merge, ship.merge, False),
        push=ship.push,
        pull_request=ship.pull_request,
        squash=ship.squash,
        report_html=ship.report_html,
        loop_files=ship.loop_files,
        author=ship.author or "",
    )
    remark = (f"Sandbox off, as asked: {UNCONFINED}",) if sandbox == "none" else ()
    return Configured(workflow, settings, cast.agents, (*cast.notes, *remark), attended and sandbox == "auto")


def _review(workflow: str, flags: RunFlags, configured: str | None) -> Any:
    """When work is reviewed; a workflow whose table has no way round its reviews always holds them."""
    typed = _flag(flags, "review", schema.TopLevel)
    if workflow in without_review():
        return _first(typed, configured, "always")
    if typed not in {None, "always"}:
        raise FlagInvalid("--review", f"the workflow {workflow} always holds its reviews; leave the option out")
    return "always"


def gate_settings(file: FileConfig | None, flags: RunFlags) -> Settings:
    top, options, defaults = (file or NO_SETTINGS).top, (file or NO_SETTINGS).gate_options, Settings()
    for name in ("setup", "sandbox"):
        _flag(flags, name, schema.TopLevel)
    return Settings(
        gates=_gates(file, flags),
        setup=_first(flags.setup, top.setup, ""),
        setup_timeout_s=_first(top.setup_timeout, defaults.setup_timeout_s),
        lint=_first(top.lint, ""),
        carry=options.carry,
        environment_folders=_first(options.environment, defaults.environment_folders),
        sandbox="none" if _first(flags.sandbox, top.sandbox, "auto") == "none" else "bwrap",
        network=_first(top.network, defaults.network),
    )


def without_sandbox(configured: Configured, missing: str) -> Configured:
    """The settings on a machine whose sandbox cannot be used, for the reason `missing`; refused where one is needed."""
    if configured.settings.sandbox == "none":
        return configured
    if configured.sandbox_optional:
        notes = (*configured.notes, f"Sandbox off: {missing}. {UNCONFINED.capitalize()}")
        unconfined = msgspec.structs.replace(configured.settings, sandbox="none")
        return msgspec.structs.replace(configured, settings=unconfined, notes=notes)
    remedy = (
        'To run without a sandbox, with your permissions for the agent, set sandbox = "none" or pass --sandbox none.'
    )
    raise ConfigError(f"The sandbox cannot be used: {missing}. {remedy}")


def with_limits(limits: Limits, flags: RunFlags) -> Limits:
    """The limits with those typed in their place; `resume` takes the same options."""
    names = set(RunFlags.__struct_fields__) & set(schema.LimitsTable.__struct_fields__)
    return _change_limits(limits, {name: _flag(flags, name, schema.LimitsTable) for name in names})


def with_day_budgets(limits: Limits) -> Limits:
    """The limits with the budgets of a day that the user's own settings have now."""
    return msgspec.structs.replace(limits, **msgspec.structs.asdict(read_user(home_folder())))


def _change_limits(limits: Limits, table: Mapping[str, Any]) -> Limits:
    given: dict[str, Any] = {}
    for name, value in table.items():
        if value is not None:
            given[f"{name}_s" if name in _SECONDS else name] = float(value) if name in _SECONDS else value
    if given.get("idle_timeout_s") == 0:
        given["idle_timeout_s"] = None
    return msgspec.structs.replace(limits, **given)


def _flag(flags: RunFlags, name: str, kind: type[msgspec.Struct]) -> Any:
    value = getattr(flags, name)
    if value is None:
        return None
    try:
        return getattr(msgspec.convert({name: value}, kind, dec_hook=schema.convert_duration), name)
    except msgspec.ValidationError as error:
        wanted = expectation(kind, name)
        raise FlagInvalid(
            f"--{name.replace('_', '-')}", f"expected {wanted}, but it is {spell_value(value)}"
        ) from error


def workflow_of(file: FileConfig | None, flags: RunFlags) -> str:
    """Which workflow is meant; refuses one that does not exist."""
    name = _first(flags.workflow, file.top.workflow if file else None, DEFAULT)
    if name in WORKFLOWS:
        return name
    if name in UNUSABLE:
        raise ConfigError(f"The workflow {name} cannot be used: {UNUSABLE[name]}")
    problem = f"there is no workflow {name}{nearest(name, WORKFLOWS)}; expected one of: {', '.join(WORKFLOWS)}"
    if flags.workflow is not None or file is None:
        raise FlagInvalid("--workflow", problem)
    raise file.origin.invalid(("workflow",), problem)


def _gates(file: FileConfig | None, flags: RunFlags) -> tuple[Gate, ...]:
    tables = file.gates if file else {}
    default = Gate("", "").timeout_s
    gates = {name: Gate(name, t.command, float(_first(t.timeout, default))) for name, t in tables.items()}
    for typed in flags.gates:
        name, command = _gate_flag(typed)
        gates[name] = Gate(name, command, gates[name].timeout_s if name in gates else default)
    if gates:
        return tuple(gates.values())
    named = 'pass --gate test="COMMAND"'
    written = f'Write the command that runs the tests there, test = "COMMAND", and type flyball trust; or {named}.'
    remedy = written if file else f"Type flyball init to have one proposed, or {named}."
    problem = f"No gate is configured, so nothing could be measured: expected a command in [gates]. {remedy}"
    raise file.origin.invalid(("gates",), problem) if file else ConfigError(problem)


def _gate_flag(typed: str) -> tuple[str, str]:
    name, equals, command = typed.partition("=")
    name, command = name.strip(), command.strip()
    if not equals or not command or not schema.NAME.fullmatch(name):
        raise FlagInvalid(
            "--gate", f'expected NAME="COMMAND", such as test="pytest -q", but it is {spell_value(typed)}'
        )
    if name in schema.GateOptions.__struct_fields__:
        raise FlagInvalid("--gate", f"expected another name, since gates.{name} is a setting")
    return name, command


def _breaker(file: FileConfig) -> BreakerSettings:
    default = BreakerSettings()
    stages = dict(default.stages)
    other = default.other
    known = tuple(dict.fromkeys((*(s for w in WORKFLOWS.values() for s in w.stages), OTHER_STAGES)))
    for name, table in file.breaker.items():
        if name not in known:
            problem = f"there is no such stage{nearest(name, known)}; expected one of: {', '.join(known)}"
            raise file.origin.invalid(("breaker", name), problem)
        if name == OTHER_STAGES:
            other = msgspec.structs.replace(other, **given_values(table))
        else:
            stages[name] = msgspec.structs.replace(default.strikes(name, own_strikes(name)), **given_values(table))
    return BreakerSettings(stages, other, float(file.cooldown) if file.cooldown else None)


def _first(*values: T | None) -> T:
    """The first value that was given; the last one always is."""
    given = next((value for value in values if value is not None), values[-1])
    assert given is not None
    return given
