"""A repository's configuration may tighten; what it would run or widen needs a person's agreement, kept outside of it.

The record is a file named after the hash of what was agreed to. Changed content has another hash and is asked for anew.
"""

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from flyball.config import schema
from flyball.config.errors import ConfigError
from flyball.config.file import FileConfig, given_values
from flyball.config.home import RepositoryHome
from flyball.config.settings import RunFlags
from flyball.core.claims.reviews import VALIDATORS
from flyball.core.health.breaker import Strikes
from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import BreakerSettings, CodeLimits, Limits, RolePrompt
from flyball.core.workflows.registry import own_strikes
from flyball.folders import sync_directory

_NOTHING_TYPED = RunFlags()
Prompts = Mapping[str, RolePrompt]
NO_PROMPTS: Prompts = MappingProxyType({})


def needs_trust(file: FileConfig | None, flags: RunFlags = _NOTHING_TYPED) -> tuple[str, ...]:
    """What the file would run or widen, a line each; what `flags` take the place of is left out."""
    if file is None:
        return ()
    return tuple(_runs(file, flags)) + tuple(_widens(file, flags)) + tuple(_loosens(file, flags))


def digests(file: FileConfig, prompts: Prompts = NO_PROMPTS) -> tuple[str, ...]:
    """The hash of all that runs or widens, scripts with their content, and that of what the project says to its roles."""
    scripts = (_script_content(file, table) for table in file.agents.values())
    contents: list[object] = [(*needs_trust(file), *scripts), *([prompts] if prompts else [])]
    return tuple(hashlib.sha256(msgspec.json.encode(each, order="sorted")).hexdigest() for each in contents)


def is_trusted(
    home: RepositoryHome,
    file: FileConfig | None,
    flags: RunFlags = _NOTHING_TYPED,
    prompts: Prompts = NO_PROMPTS,
) -> bool:
    """Whether everything that would take effect was agreed to, or needs no agreement; `prompts` where roles are to work by them."""
    if file is None or not needs_trust(file, flags):
        return True
    return all((home.trust / each).is_file() for each in digests(file, prompts))


def require(
    home: RepositoryHome,
    file: FileConfig | None,
    flags: RunFlags = _NOTHING_TYPED,
    prompts: Prompts = NO_PROMPTS,
) -> None:
    if file is not None and not is_trusted(home, file, flags, prompts):
        wants = "; ".join(needs_trust(file, flags))
        raise ConfigError(
            f"{file.origin.path} is not trusted, and it would have effect: {wants}. Read it, then type: flyball trust"
        )


def record(home: RepositoryHome, file: FileConfig, prompts: Prompts = NO_PROMPTS) -> Path:
    """Keep a person's agreement to a file, and to what its roles are told; the record of the file."""
    own, *_ = [_record(home, file, each) for each in digests(file, prompts)]
    return own


def _record(home: RepositoryHome, file: FileConfig, digest: str) -> Path:
    path = home.prepare().trust / digest
    text = "\n".join((str(file.origin.path), *needs_trust(file), ""))
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8", errors="backslashreplace") as record:
            record.write(text)
            record.flush()
            os.fsync(record.fileno())
        fresh.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise ConfigError(
            f"The agreement could not be kept in {path} ({error.strerror}). Nothing is trusted. Free some space, or make the folder "
            "writable, and try again."
        ) from error
    return path


def _runs(file: FileConfig, flags: RunFlags) -> Iterator[str]:
    typed = {gate.partition("=")[0].strip() for gate in flags.gates}
    for name, gate in file.gates.items():
        if name not in typed:
            yield f"gate {name} runs: {gate.command}"
    if file.top.setup is not None and flags.setup is None:
        yield f"set-up runs: {file.top.setup}"
    if file.top.lint is not None:
        yield f"lint runs: {file.top.lint}"
    yield from _besides(file)
    if flags.agent_command is None:
        for name, table in file.agents.items():
            yield from _agent(name, table)


def _besides(file: FileConfig) -> Iterator[str]:
    """What is run or reached outside the loop itself."""
    named = {
        "you are told by": shlex.join(file.notify.command or ()),
        "you are told through": ", ".join(file.notify.targets),
        "telemetry goes to": file.telemetry.otlp,
        "an evaluation builds with": file.evaluators.build,
        "an evaluation starts": file.evaluators.start,
    }
    yield from (f"{what}: {value}" for what, value in named.items() if value)


def _agent(name: str, table: schema.AgentTable) -> Iterator[str]:
    named = {
        "runs": shlex.join(table.command or ()),
        "plays the script": table.script,
        "sees the variables": ", ".join(table.env),
        "is given": shlex.join(table.args),
    }
    yield from (f"agent {name} {what}: {value}" for what, value in named.items() if value)
    if table.exit_signal == "exit-0":
        yield f"agent {name} signals the end of a stage by a clean exit"


def _widens(file: FileConfig, flags: RunFlags) -> Iterator[str]:
    top, options = file.top, file.gate_options
    if top.sandbox == "none" and flags.sandbox is None:
        yield "the sandbox is off"
    if top.attended is False and flags.attended is None:
        yield "nobody is asked"
    if file.ship.merge and flags.merge is None:
        yield "the result is merged into the branch that is checked out"
    if file.ship.push:
        yield "the result is pushed"
    if file.ship.pull_request:
        yield "the result is pushed and a pull request opened, by the program gh"
    if file.imports.close_issues:
        yield "issues are closed, by the program gh"
    if file.ship.author:
        yield f"commits carry the name {file.ship.author}"
    for role, chosen in file.roles.items():
        if chosen.prompt is not None:
            yield f"the prompt of {role} is {'replaced' if chosen.prompt_mode == 'replace' else 'added to'}: {chosen.prompt}"
    listed = (
        ("gates see the ignored files", options.carry),
        ("protected files may change", options.may_change),
        ("gates keep the folders", options.environment),
    )
    yield from (f"{what}: {', '.join(names)}" for what, names in listed if names)


def _loosens(file: FileConfig, flags: RunFlags) -> Iterator[str]:
    """Checks that are off, and numbers that allow more than the defaults do."""
    for name, mode in file.qa.items():
        if mode == "off":
            yield f"the check {name} is off"
    lacking = [kind for kind in VALIDATORS if kind not in file.evaluate.get("validators", VALIDATORS)]
    if lacking:
        yield f"a backlog is done without: {', '.join(lacking)}"
    if file.evaluators.safe_calls:
        yield f"outgoing calls are not looked at where a line holds: {', '.join(file.evaluators.safe_calls)}"
    if file.evaluate.get("ignore"):
        yield f"issues are not looked for in: {', '.join(file.evaluate['ignore'])}"
    defaults = BreakerSettings()
    limits = msgspec.structs.asdict(Limits())
    given = {k: v for k, v in given_values(file.limits).items() if getattr(flags, k, None) is None}
    yield from _higher("limits", given, limits | {k.removesuffix("_s"): v for k, v in limits.items()})
    yield from _higher("monitor", file.monitor, msgspec.structs.asdict(Thresholds()))
    yield from _higher("code", file.code, msgspec.structs.asdict(CodeLimits()))
    for stage, table in file.breaker.items():
        strikes: Strikes = defaults.strikes(stage, own_strikes(stage))
        yield from _higher(f"breaker.{stage}", given_values(table), msgspec.structs.asdict(strikes))


def _higher(section: str, given: Mapping[str, float], defaults: Mapping[str, float | None]) -> Iterator[str]:
    for name, value in given.items():
        default = defaults[name]
        unlimited = name == "idle_timeout" and not value
        if default is not None and (value > default or unlimited):
            yield f"{section}.{name} is {value:g} instead of {default:g}"


def _script_content(file: FileConfig, table: schema.AgentTable) -> str:
    if table.script is None:
        return ""
    script = file.origin.path.parent / table.script
    try:
        return hashlib.sha256(script.read_bytes()).hexdigest() if script.is_file() else "unreadable"
    except OSError:
        return "unreadable"
