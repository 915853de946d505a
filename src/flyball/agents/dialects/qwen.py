"""Qwen Code: how `qwen` is asked without a terminal, and what its stream of events means."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, end_well, find_kind, find_line
from flyball.agents.dialects.event_table import (
    MESSAGE_ROWS,
    EventRow,
    EventTable,
    StreamDialect,
    StreamSummary,
    count_usage,
    denied_calls,
    unpack_messages,
)
from flyball.agents.reading.loose_json import as_dict
from flyball.agents.run.homes import below
from flyball.core.model.outcomes import TurnKind

NO_RESULT = "Qwen Code ended without a result"
DEFAULTS = "qwen-defaults.json"
ASK = "ask_user_question"
_GUARDS = {
    True: ("--approval-mode", "yolo"),
    False: ("--approval-mode", "auto-edit", "--allowed-tools", "run_shell_command"),
}
"""By whether flyball's sandbox holds it."""
_EXITS: dict[int | None, TurnKind] = {53: "max_turns", 55: "budget"}
_API_ERROR = re.compile(r"\[API Error: (?:(?P<status>\d{3}) )?(?P<said>.*)\]", re.DOTALL)
_FAILURES: Words = (
    (
        "context_full",
        re.compile(r"maximum context length|context_length_exceeded|input length|too many tokens", re.IGNORECASE),
    ),
    ("not_logged_in", re.compile(r"No auth type is selected|Missing API key|API key is required", re.IGNORECASE)),
)
_UNFINISHED: Words = (("context_full", re.compile(r"No saved session found")),)


def _unpack(event: Event) -> Iterator[tuple[str, Event]]:
    """An API failure is told as if the model had said it."""
    for name, part in unpack_messages(event):
        failed = name == "assistant text" and _API_ERROR.match(str(part.get("text") or ""))
        yield "failure" if failed else name, part


_EVENTS = EventTable(
    asking=ASK,
    session="session_id",
    unpack=_unpack,
    rows={
        **MESSAGE_ROWS,
        "system init": EventRow(model="model"),
        "assistant thinking": EventRow(unless="parent", notes={"begun": lambda _: True}),
        "failure": EventRow(unless=lambda _: True, text="text"),
        "result": EventRow(end=True),
    },
)


class Qwen(StreamDialect):
    """Version 0.24 and later; it needs Node 22."""

    name = "qwen"
    events = _EVENTS
    tells_money = False
    install = "npm install --global @qwen-code/qwen-code"
    login = "qwen, then /auth (or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL)"
    variables = (
        *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_MODEL", "DASHSCOPE_API_KEY"),
        *("BAILIAN_CODING_PLAN_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY"),
    )
    homes = (".qwen",)
    guarded = below(
        homes,
        *("settings.json", "QWEN.md", ".env", "trustedFolders.json"),
        *("commands", "extensions", "agents", "skills"),
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if any(map(environment.get, ("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"))):
            return True
        folder = home / ".qwen"
        if (folder / "oauth_creds.json").is_file():
            return True
        return None if any((folder / name).is_file() for name in ("settings.json", ".env")) else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Approval is left to flyball's sandbox; without the first variable it would start itself a second time."""
        argv = ["qwen", "--output-format", "stream-json"]
        argv += asked.add_unless_given(_GUARDS[asked.sandboxed], "--approval-mode", "--yolo", "-y")
        argv += ["--include-directories", str(asked.folder)]
        argv += asked.options(session="--resume", max_turns="--max-session-turns")
        env = {
            "QWEN_CODE_NO_RELAUNCH": "true",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(asked.folder / DEFAULTS),
        }
        return Invocation(argv=(*argv, *asked.args), env=env, files={DEFAULTS: _DEFAULTS})

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        result = summary.end or {}
        told = as_dict(result.get("usage"))
        # A conversation without an answer may not be kept.
        begun = summary.has_answer or "begun" in summary.notes or heard.asked.session
        return summary.reading(
            _ending(summary, heard),
            count_usage(told) if told else None,
            cumulative=True,
            session=summary.session if begun else "",
            message=str(result.get("result") or summary.text),
        )


QWEN = Qwen()

_DEFAULTS = json.dumps(
    {
        "general": {"enableAutoUpdate": False},
        "model": {"generationConfig": {"maxRetries": 1}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    }
).encode()
"""Settings below the user's own: its own retries come on top of its library's, and for its memory it would ask the model once more."""


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    result, lines = summary.end, heard.stderr_lines
    if result is None:
        # Its caps, and a conversation that is gone, are told on standard error alone.
        capped = _EXITS.get(heard.exit.code)
        known = (capped, lines[-1] if lines else NO_RESULT, None) if capped else find_line(lines, _UNFINISHED)
        return known or ("crashed", NO_RESULT, None)
    if not result.get("is_error") and result.get("subtype") == "success":
        return end_well(summary.question, denied_calls(result, ASK))
    message = str(as_dict(result.get("error")).get("message") or "")
    found = _API_ERROR.search(message)
    said, status = (found["said"], int(found["status"] or 0)) if found else (message, 0)
    return end_failed(ProviderFailure(said=said, known=find_kind(said, _FAILURES), status=status), heard, NO_RESULT)
