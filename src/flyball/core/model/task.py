"""A task and the settings it was opened with."""

from __future__ import annotations

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
    """All that is needed to make an agent."""

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
    """What the loop may spend; None is no limit."""

    calls_per_hour: int = 100
    max_iterations: int | None = None
    max_cycles: int | None = None
    max_turns: int | None = None
    max_hours: float | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    turn_timeout_s: float = 3600.0
    idle_timeout_s: float | None = 900.0
    crash_limit: int = 5
    crash_backoff_s: float = 30.0
    overload_backoff_s: float = 5.0
    overload_patience_s: float = 4 * 3600.0
    usage_limit_wait_s: float = 3600.0


class BreakerSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Thresholds that a person set by stage, and the optional cool-down."""

    stages: dict[str, Strikes] = {}
    other: Strikes = Strikes(3, 5)
    cooldown_s: float | None = None

    def strikes(self, stage: str, own: Strikes | None) -> Strikes:
        """What a person set for the stage, else the stage's `own` thresholds, else those of all others."""
        return self.stages.get(stage) or own or self.other


class CodeLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a changed function may not exceed."""

    complexity: int = 10
    function_lines: int = 60
    parameters: int = 8


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
    roles: dict[str, AgentChoice] = {}
    limits: Limits = Limits()
    breaker: BreakerSettings = BreakerSettings()
    monitor: Thresholds = Thresholds()
    code: CodeLimits = CodeLimits()
    qa: QaSettings = QaSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    sandbox: Literal["bwrap", "none"] = "bwrap"
    network: bool = True
    attended: bool = False
    approve_plan: bool = False
    parallel: int | None = None
    optional_items: bool = False
    parallel_stories: bool = False
    close_issues: bool = False
    gates_side_by_side: bool = False
    push: bool = False
    pull_request: bool = False
    squash: bool = False
    report_html: bool = False
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


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of work a person asked for."""

    id: TaskId
    workflow: str
    request: str
    settings: Settings
    opened_at: datetime
    agents: tuple[AgentSpec, ...] = ()
    source: Source | None = None
    document: str = ""
    items: tuple[Item, ...] = ()
