"""The shape of flyball.toml: which keys there are, what each may hold, and how that is said to a person."""

import re
import sys
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import CLI_TYPES, CliType, CodeLimits, QaSettings

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What a gate, an agent, a role or a stage may be called."""

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

DURATION = 'a duration: seconds as a number, or a text such as "30s", "45m" or "1h"'
SPAN = 'a duration greater than 0: seconds as a number, or a text such as "30s", "45m" or "1h"'


class Duration(float):
    """Seconds."""


class Span(Duration):
    """Seconds, more than none."""


def duration(value: object) -> Duration:
    """Seconds from a number or from a text with a unit."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return Duration(value)
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    seconds = float(match[1]) * _UNITS[match[2] or "s"] if match else float("inf")
    if seconds == float("inf"):
        raise ValueError(DURATION)
    return Duration(seconds)


def convert_duration(kind: type, value: object) -> Duration:
    """What msgspec asks of types that are not its own."""
    assert kind in (Duration, Span)
    found = duration(value)
    if kind is Span and not found:
        raise ValueError(SPAN)
    return kind(found)


Text = Annotated[str, Meta(description="a text in quotation marks")]
Filled = Annotated[str, Meta(pattern=r"\S", description="a text in quotation marks that is not empty")]
Command = Annotated[str, Meta(pattern=r"\S", description="a command line in quotation marks that is not empty")]
Words = Annotated[
    tuple[str, ...], Meta(min_length=1, description='a list of texts, the program first: ["program", "argument"]')
]
Names = Annotated[tuple[Filled, ...], Meta(description='a list of texts: ["one", "two"]')]
SomeNames = Annotated[tuple[Filled, ...], Meta(min_length=1, description='a list of one text or more: ["one", "two"]')]
_INSIDE = r"^(?!/|~)(?!(.*/)?\.\.(/|$)).*\S"
Paths = Annotated[
    tuple[Annotated[str, Meta(pattern=_INSIDE)], ...],
    Meta(description='a list of paths inside the repository: ["one", "two/three"]'),
]
Path = Annotated[
    str,
    Meta(pattern=_INSIDE, description='a path inside the repository: "two/three"'),
]
PromptMode = Annotated[Literal["add", "replace"], Meta(description='"add" or "replace"')]
Flag = Annotated[bool, Meta(description="true or false")]
Count = Annotated[int, Meta(ge=1, description="a whole number from 1")]
Amount = Annotated[
    float,
    Meta(gt=0, le=sys.float_info.max, description="a finite number greater than 0 (leave it out for no limit)"),
]
Time = Annotated[Duration, Meta(description=DURATION)]
PositiveTime = Annotated[Span, Meta(description=SPAN)]
Author = Annotated[
    str,
    Meta(
        pattern=r"^[^<>\n]*[^<>\s][^<>\n]* <[^<>\s]+>$", description='a name with an address: "Name <name@example.org>"'
    ),
]
Check = Annotated[Literal["on", "off"], Meta(description='"on" or "off"')]
Review = Annotated[Literal["always", "auto", "never"], Meta(description='"always", "auto" or "never"')]
Sandbox = Annotated[Literal["auto", "bwrap", "none"], Meta(description='"auto", "bwrap" or "none"')]
Unnoticed = Annotated[Literal["refuse", "allow"], Meta(description='"refuse" or "allow"')]
Failing = Annotated[Literal["ask", "work", "known"], Meta(description='"ask", "work" or "known"')]
ExitSignal = Annotated[Literal["report", "exit-0"], Meta(description='"report" or "exit-0"')]
AgentType = Annotated[
    Literal["command", "scripted", "acp"] | CliType,
    Meta(description=f'"command", "scripted", "acp", or the name of a known agent: {", ".join(CLI_TYPES)}'),
]


class AgentTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    type: AgentType | None = None
    command: Words | None = None
    model: Text = ""
    env: Names = ()
    exit_signal: ExitSignal = "report"
    script: Filled | None = None
    fallback: Names = ()
    args: Names = ()
    max_turns: Count | None = None
    budget_usd: Amount | None = None
    models: Names = ()
    account: Text = ""


class RoleTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: Filled | None = None
    model: Filled | None = None
    fallback: Names | None = None
    prompt: Path | None = None
    prompt_mode: PromptMode | None = None


class GateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[gates.NAME]`; `NAME = "command"` is short for it."""

    command: Command
    timeout: PositiveTime | None = None


class GateOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of `[gates]` that are not gates."""

    carry: Paths = ()
    protected: Names = ()
    may_change: Names = ()
    environment: Paths | None = None
    side_by_side: Flag = False
    unnoticed: Unnoticed = "refuse"
    failing: Failing = "ask"


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    calls_per_hour: Count | None = None
    max_iterations: Count | None = None
    max_cycles: Count | None = None
    max_turns: Count | None = None
    max_hours: Amount | None = None
    budget_usd: Amount | None = None
    budget_tokens: Count | None = None
    turn_timeout: PositiveTime | None = None
    idle_timeout: Time | None = None
    crash_limit: Count | None = None
    crash_backoff: Time | None = None
    overload_backoff: Time | None = None
    overload_patience: Time | None = None
    usage_limit_wait: Time | None = None


class UserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The user's own `settings.toml`, for all repositories; the names are those of the limits they set."""

    budget_usd_per_day: Amount | None = None
    budget_tokens_per_day: Count | None = None


class StrikesTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[breaker.STAGE]`."""

    no_progress: Count | None = None
    same_error: Count | None = None


class BreakerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of `[breaker]` that is not a stage."""

    cooldown: Time | None = None


class EvaluateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    validators: SomeNames | None = None
    ignore: Names | None = None


class EvaluatorsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    build: Command | None = None
    start: Command | None = None
    url: Filled | None = None
    pages: SomeNames | None = None
    business: Names | None = None
    api: Names | None = None
    safe_calls: Names | None = None
    timeout: PositiveTime | None = None
    start_timeout: PositiveTime | None = None


class ShipTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    merge: Flag | None = None
    push: Flag = False
    pull_request: Flag = False
    squash: Flag = False
    report_html: Flag = False
    loop_files: Flag = True
    author: Author | None = None


class ImportTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    optional: Flag | None = None
    parallel_stories: Flag = False
    close_issues: Flag = False


QuietHours = Annotated[
    str,
    Meta(
        pattern=r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$",
        description='two times of day: "22:00-07:00"',
    ),
]


class NotifyTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    targets: Names = ()
    command: Words | None = None
    quiet_hours: QuietHours | None = None


class TelemetryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    otlp: Filled | None = None


class TopLevel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys outside all tables."""

    workflow: Filled | None = None
    agent: Filled | None = None
    model: Filled | None = None
    sandbox: Sandbox | None = None
    network: Flag | None = None
    setup: Command | None = None
    setup_timeout: PositiveTime | None = None
    lint: Command | None = None
    parallel: Count | None = None
    attended: Flag | None = None
    approve_plan: Flag | None = None
    review: Review | None = None
    documents: Count | None = None


def _table(name: str, like: type[msgspec.Struct], kind: Any) -> type[msgspec.Struct]:
    """A table with the fields of a settings struct, each of which may be left out."""
    fields = [(field, kind | None, None) for field in like.__struct_fields__]
    return msgspec.defstruct(name, fields, frozen=True, forbid_unknown_fields=True)


MonitorTable = _table("MonitorTable", Thresholds, Count)
CodeTable = _table("CodeTable", CodeLimits, Count)
QaTable = _table("QaTable", QaSettings, Check)

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "limits": LimitsTable,
    "monitor": MonitorTable,
    "qa": QaTable,
    "code": CodeTable,
    "evaluate": EvaluateTable,
    "evaluators": EvaluatorsTable,
    "ship": ShipTable,
    "import": ImportTable,
    "notify": NotifyTable,
    "telemetry": TelemetryTable,
}
"""Tables whose keys are all known."""

NAMED: dict[str, type[msgspec.Struct]] = {"agents": AgentTable, "roles": RoleTable}
"""Tables of tables, each under a name of the user's choice."""

MIXED: dict[str, tuple[type[msgspec.Struct], type[msgspec.Struct]]] = {
    "gates": (GateOptions, GateTable),
    "breaker": (BreakerOptions, StrikesTable),
}
"""Tables with keys of their own beside entries under a name."""

TABLES = (*NAMED, *MIXED, *SECTIONS)


def home_of(key: str) -> str:
    """The table a key would belong to, were it not astray; empty where there is none or more than one."""
    every = {**SECTIONS, **{name: kinds[0] for name, kinds in MIXED.items()}}
    homes = [name for name, kind in every.items() if key in kind.__struct_fields__]
    return homes[0] if len(homes) == 1 else ""
