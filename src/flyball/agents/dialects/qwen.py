"""Qwen Code: how `qwen` is asked without a terminal, and what its stream of events means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, message_parts, message_shown
from flyball.agents.display.tool_calls import call_line, question
from flyball.agents.reading.loose_json import as_count, as_dict, as_list
from flyball.agents.reading.unreachable import unreachable
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import Usage
from flyball.core.providers.limits import recognise_error

NO_RESULT = "Qwen Code ended without a result"
DEFAULTS = "qwen-defaults.json"
ASK = "ask_user_question"
EXIT_MAX_TURNS, EXIT_BUDGET = 53, 55
_API_ERROR = re.compile(r"\[API Error: (?:(?P<status>\d{3}) )?(?P<said>.*)\]", re.DOTALL)
_TOO_LONG = re.compile(r"maximum context length|context_length_exceeded|input length|too many tokens", re.IGNORECASE)
_NO_LOGIN = re.compile(r"No auth type is selected|Missing API key|API key is required", re.IGNORECASE)
_LOST = re.compile(r"No saved session found")
_SERVER_FAULT = 500


class _Story:
    """What the events of one run add up to."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.session, self.model, self.text = "", "", ""
        self.result: Event | None = None
        self.question: Event = {}
        self.begun = False
        """Whether the model answered at all: a conversation without an answer may not be kept."""
        for event in lines:
            self.session = str(event.get("session_id") or self.session)
            self.model = str(event.get("model") or self.model)
            if event.get("type") == "result":
                self.result = event
            elif event.get("type") == "assistant" and not event.get("parent_tool_use_id"):
                self._assistant(event)

    def _assistant(self, event: Event) -> None:
        for part in message_parts(event):
            self.begun = self.begun or not _API_ERROR.match(str(part.get("text") or ""))
            if part.get("type") == "text" and not _API_ERROR.match(str(part.get("text") or "")):
                self.text = str(part.get("text") or self.text)
            elif part.get("type") == "tool_use" and part.get("name") == ASK:
                self.question = as_dict(part.get("input"))


class Qwen:
    """Version 0.24 and later; it needs Node 22."""

    name = "qwen"
    program = "qwen"
    version_argv = ("qwen", "--version")
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
        if any(
            environment.get(name) for name in ("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY")
        ):
            return True
        folder = home / ".qwen"
        if (folder / "oauth_creds.json").is_file():
            return True
        return None if any((folder / name).is_file() for name in ("settings.json", ".env")) else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Approval is left to flyball's sandbox; without the first variable it would start itself a second time."""
        argv = ["qwen", "--output-format", "stream-json"]
        argv += asked.unless_told(_guard(asked), "--approval-mode", "--yolo", "-y")
        argv += ["--include-directories", str(asked.folder)]
        argv += ["--model", asked.model] if asked.model else []
        argv += ["--resume", asked.session] if asked.session else []
        argv += ["--max-session-turns", str(asked.max_turns)] if asked.max_turns else []
        env = {
            "QWEN_CODE_NO_RELAUNCH": "true",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(asked.folder / DEFAULTS),
        }
        return Invocation(argv=(*argv, *asked.args), env=env, files={DEFAULTS: _DEFAULTS})

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard)
        asks, options = question(story.question) if kind == "question" else ("", ())
        told = as_dict(as_dict(story.result).get("usage"))
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=str(as_dict(story.result).get("result") or story.text),
            usage=Usage(as_count(told.get("input_tokens")), as_count(told.get("output_tokens")))
            if told
            else Usage(estimated=True),
            cumulative=bool(told),
            session=story.session if story.begun or heard.asked.session else "",
            reset_at=reset_at,
            question=asks,
            options=options,
            model=story.model,
        )

    def show(self, event: Event) -> list[Shown]:
        return message_shown(event)


QWEN = Qwen()

_DEFAULTS = json.dumps(
    {
        "general": {"enableAutoUpdate": False},
        "model": {"generationConfig": {"maxRetries": 1}},
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
    }
).encode()
"""Settings below the user's own: its own retries come on top of its library's, and for its memory it would ask the model once more."""


def _guard(asked: TurnRequest) -> tuple[str, ...]:
    if asked.sandboxed:
        return ("--approval-mode", "yolo")
    return ("--approval-mode", "auto-edit", "--allowed-tools", "run_shell_command")


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    if story.result is None:
        return _unfinished(heard)
    if story.result.get("is_error") or story.result.get("subtype") != "success":
        return _failure(str(as_dict(story.result.get("error")).get("message") or ""), heard.now)
    denied = [as_dict(one) for one in as_list(story.result.get("permission_denials"))]
    refused = [call_line(one.get("tool_name"), as_dict(one.get("tool_input"))) for one in denied]
    return ended_well(story.question, refused)


def _unfinished(heard: ProgramOutput) -> HowEnded:
    """Its caps, and a conversation that is gone, are told on standard error alone."""
    lines = [line.strip() for line in heard.stderr_text.splitlines() if line.strip()]
    last = lines[-1] if lines else NO_RESULT
    if heard.exit.code == EXIT_MAX_TURNS:
        return "max_turns", last, None
    if heard.exit.code == EXIT_BUDGET:
        return "budget", last, None
    lost = next((line for line in lines if _LOST.search(line)), "")
    return ("context_full", lost, None) if lost else ("crashed", NO_RESULT, None)


def _failure(message: str, now: datetime) -> HowEnded:
    found = _API_ERROR.search(message)
    said, status = (found["said"], found["status"] or "") if found else (message, "")
    if _TOO_LONG.search(said):
        return "context_full", said, None
    if _NO_LOGIN.search(said):
        return "not_logged_in", said, None
    limit = recognise_error({"message": said, "status": status}, now, zones)
    if limit is not None:
        return limit.kind, limit.detail, limit.reset_at
    if int(status or 0) >= _SERVER_FAULT or unreachable(said):
        return "overloaded", said, None
    return "crashed", said or NO_RESULT, None
