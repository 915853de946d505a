"""A task and the settings it was opened with."""

import hashlib
from datetime import datetime
from typing import Literal, NewType, get_args

import msgspec

from flyball.core.claims.reviews import EvaluateSettings
from flyball.core.health.breaker import Strikes
from flyball.core.health.verdict import Thresholds

TaskId = NewType("TaskId", str)
EffectId = NewType("EffectId", str)
Commit = NewType("Commit", str)

MAIN = "main"
"""The lane every task has: its own workspace, whose head is what the branch holds."""

CheckMode = Literal["on", "off"]

CliType = Literal["claude", "codex", "gemini", "opencode", "copilot", "qwen", "goose", "aider"]
CLI_TYPES: tuple[CliType, ...] = get_args(CliType)
"""Agents flyball knows by name: each needs no configuration where its program is installed."""


class Gate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command whose result is a measurement; `{junit}` and `{coverage}` in it become the paths of the reports flyball wants."""

    name: str
    command: str
    timeout_s: float = 1800.0


class AgentChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which agent and model play a role; `fallback` take over while the first is limited.

    One that a person `fixed` is kept, whoever implemented what it reviews.
    """

    agent: str
    model: str = ""
    fallback: tuple[str, ...] = ()
    fixed: bool = False


class Player(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent with the model it runs; an empty one is whatever the agent takes by itself."""

    agent: str
    model: str = ""


class Author(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who wrote, in which role; `model` is the one that ran, as far as anybody said, and `asked` the one it was asked for."""

    role: str
    agent: str
    model: str = ""
    asked: str = ""


class AgentSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    type: Literal["command", "scripted", "acp"] | CliType = "command"
    command: tuple[str, ...] = ()
    model: str = ""
    env: tuple[str, ...] = ()
    exit_signal: Literal["report", "exit-0"] = "report"
    script: str = ""
    fallback: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    max_turns: int | None = None
    budget_usd: float | None = None
    models: tuple[str, ...] = ()
    account: str = ""


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the loop may spend; None is no limit. What may be spent in a day is the user's, for all tasks together."""

    calls_per_hour: int = 100
    max_iterations: int | None = None
    max_cycles: int | None = None
    max_turns: int | None = None
    max_hours: float | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    budget_usd_per_day: float | None = None
    budget_tokens_per_day: int | None = None
    turn_timeout_s: float = 3600.0
    idle_timeout_s: float | None = 900.0
    crash_limit: int = 5
    crash_backoff_s: float = 30.0
    overload_backoff_s: float = 5.0
    overload_patience_s: float = 4 * 3600.0
    usage_limit_wait_s: float = 3600.0

    @property
    def has_day_budget(self) -> bool:
        return self.budget_usd_per_day is not None or self.budget_tokens_per_day is not None


class BreakerSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Thresholds that a person set by stage, and the optional cool-down."""

    stages: dict[str, Strikes] = {}
    other: Strikes = Strikes(3, 5)
    cooldown_s: float | None = None

    def strikes(self, stage: str, own: Strikes | None) -> Strikes:
        """What a person set for the stage, else the stage's `own` thresholds, else those of all others."""
        return self.stages.get(stage) or own or self.other


class CodeLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a changed function may not exceed, and the lines of a change that may go without a review."""

    complexity: int = 10
    function_lines: int = 60
    parameters: int = 8
    small_change: int = 100


class QaSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which of the eleven criteria are checked; `off` is shown as unverified, never as passed."""

    tests_pass: CheckMode = "on"
    criteria_covered: CheckMode = "on"
    lint_clean: CheckMode = "on"
    complexity: CheckMode = "on"
    readme: CheckMode = "on"
    decision_record: CheckMode = "on"
    changelog: CheckMode = "on"
    duplication: CheckMode = "on"
    naming: CheckMode = "on"
    api_documentation: CheckMode = "on"
    comments: CheckMode = "on"


class RolePrompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a project says to a role, as its file was in the commit the task was opened on: beside flyball's text, or in its place."""

    path: str
    text: str
    mode: Literal["add", "replace"] = "add"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @property
    def origin(self) -> str:
        return f"{self.path} {self.digest}, {'added' if self.mode == 'add' else 'replaced'}"


class Settings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a task was asked to respect; a snapshot taken when it was opened."""

    gates: tuple[Gate, ...] = ()
    setup: str = ""
    setup_timeout_s: float = 1800.0
    lint: str = ""
    carry: tuple[str, ...] = ()
    environment_folders: tuple[str, ...] = (".venv", "venv", "node_modules")
    protected: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    unnoticed: Literal["refuse", "allow"] = "refuse"
    failing: Literal["ask", "work", "known"] = "ask"
    review: Literal["always", "auto", "never"] = "always"
    roles: dict[str, AgentChoice] = {}
    prompts: dict[str, RolePrompt] = {}
    limits: Limits = Limits()
    breaker: BreakerSettings = BreakerSettings()
    monitor: Thresholds = Thresholds()
    code: CodeLimits = CodeLimits()
    qa: QaSettings = QaSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    documents: int = 3
    sandbox: Literal["bwrap", "none"] = "bwrap"
    network: bool = True
    attended: bool = False
    approve_plan: bool = False
    parallel: int | None = None
    optional_items: bool = False
    parallel_stories: bool = False
    close_issues: bool = False
    gates_side_by_side: bool = False
    measure_again: bool = False
    """Whether every measurement is made, also where the same one was made before."""
    push: bool = False
    pull_request: bool = False
    squash: bool = False
    report_html: bool = False
    loop_files: bool = True
    """Whether the plan, the learnings and the report of `.loop/` are on the branch."""
    author: str = ""
    merge: bool = False
    in_place: bool = False
    """Only in journals of older versions: the task began in the user's own tree."""

    def choice(self, role: str) -> AgentChoice:
        """The agent for a role: its own setting, else the default one."""
        return self.roles.get(role) or self.roles["default"]


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """The document a task was opened from, as it was then.

    One that is a plan of another tool has its `format`; `selector` is the part of it that is meant, such as a tag.
    """

    path: str
    sha256: str
    format: str = ""
    selector: str = ""


def kept_paths(source: Source | None) -> tuple[str, ...]:
    """What of a task's source is the user's alone: a plan that they and their tool mark, and no agent does."""
    return (source.path,) if source is not None and source.format else ()


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """A criterion, subtask, issue or track task.

    An `optional` one is worked only if a person asks; `group` is the phase or section it stands in; `parallel` is what its
    source says about running beside others, None where it says nothing.
    """

    id: str
    text: str
    status: Literal["not-started", "in-progress", "completed", "blocked"] = "not-started"
    files: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    kind: str = ""
    optional: bool = False
    group: str = ""
    parallel: bool | None = None


def open_items(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """What is still to be done; a document whose boxes are all ticked is worked through again."""
    return tuple(i for i in items if i.status != "completed") or items


Quantiles = tuple[float, float]


class Forecast(msgspec.Struct, frozen=True):
    """Median and 80th percentile of what so many finished tasks took; money only where that of enough of them is known."""

    tasks: int
    turns: Quantiles
    seconds: Quantiles
    usd: Quantiles | None = None


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    id: TaskId
    workflow: str
    request: str
    settings: Settings
    opened_at: datetime
    agents: tuple[AgentSpec, ...] = ()
    source: Source | None = None
    document: str = ""
    items: tuple[Item, ...] = ()
    forecast: Forecast | None = None
