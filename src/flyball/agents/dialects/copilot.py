"""GitHub Copilot CLI: how `copilot` is asked without a terminal, and what its stream of events means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, answered, called, noticed, said
from flyball.agents.display.tool_calls import call_line, question
from flyball.agents.reading.loose_json import as_count, as_dict, as_object
from flyball.agents.reading.unreachable import unreachable
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_RESULT = "Copilot ended without a result"
STOPPED = "Copilot was told to stop"
# What it unpacks is run outside the sandbox, too, so that nothing in the sandbox may write it.
UNPACK = "Copilot has not unpacked this version of itself yet; type once: copilot --version"
_PACKED = "Failed to extract bundled package"
USAGE = "usage.json"
ASK = "ask_user"
_TYPES: dict[str, TurnKind] = {
    "authentication": "not_logged_in",
    "authorization": "not_logged_in",
    "quota": "usage_limit",
    "context_limit": "context_full",
}
_CODES: dict[str, TurnKind] = dict.fromkeys(
    ("quota_exceeded", "user_weekly_rate_limited", "user_global_rate_limited"), "usage_limit"
)
_TOO_LONG = re.compile(r"maximum context length|context_length_exceeded|prompt is too long", re.IGNORECASE)
_NO_LOGIN = re.compile(r"No authentication information found|not (?:logged|signed) in", re.IGNORECASE)
_LOST = re.compile(r"No session, task, or name matched")
_LAST = re.compile(r".*Last error: ", re.DOTALL)
PAYMENT_REQUIRED, _SERVER_FAULT = 402, 500


class _Story:
    """What the events of one run add up to."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.text, self.model = "", ""
        self.result: Event | None = None
        self.error: Event = {}
        self.question: Event = {}
        self.refused: list[str] = []
        self.aborted = False
        self._calls: dict[str, Event] = {}
        for event in lines:
            self._take(str(event.get("type")), event, as_dict(event.get("data")))

    def _take(self, kind: str, event: Event, data: Event) -> None:
        match kind:
            case "assistant.message" if data.get("content") and not data.get("parentToolCallId"):
                self.text, self.error = str(data["content"]), {}
                self.model = str(data.get("model") or "")
            case "tool.execution_start":
                self._calls[str(data.get("toolCallId"))] = data
            case "tool.execution_complete" if data.get("success") is False:
                self._refused(data)
            case "session.error":
                self.error = data
            case "assistant.idle":
                self.aborted = data.get("aborted") is True
            case "result":
                self.result = event

    def _refused(self, data: Event) -> None:
        call = self._calls.get(str(data.get("toolCallId")), {})
        inputs = as_dict(call.get("arguments"))
        if call.get("toolName") == ASK:
            self.question = inputs
        elif as_dict(data.get("error")).get("code") == "denied":
            self.refused.append(call_line(call.get("toolName"), inputs))


class Copilot:
    """Version 1.0.102 and later."""

    name = "copilot"
    program = "copilot"
    version_argv = ("copilot", "--version")
    tells_money = False
    install = "npm install --global @github/copilot"
    login = "copilot login (or set COPILOT_GITHUB_TOKEN)"
    variables = (
        *("COPILOT_GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_MODEL", "COPILOT_OFFLINE", "GH_HOST"),
        *(f"COPILOT_PROVIDER_{name}" for name in ("TYPE", "BASE_URL", "API_KEY", "BEARER_TOKEN", "WIRE_API")),
    )
    homes = ("$COPILOT_HOME", ".copilot")
    guarded = below(
        homes,
        *("mcp-config.json", "lsp-config.json", "copilot-instructions.md"),
        *("agents", "skills", "hooks", "installed-plugins"),
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if environment.get("COPILOT_GITHUB_TOKEN") or environment.get("COPILOT_PROVIDER_BASE_URL"):
            return True
        folder = Path(environment.get("COPILOT_HOME") or home / ".copilot")
        # Its token may be in the system's keyring, which is not looked into.
        return None if (folder / "config.json").is_file() else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Permission is left to flyball's sandbox; a question nobody can answer is not offered."""
        argv = ["copilot", "--output-format", "json", "--no-color", "--no-ask-user"]
        argv += asked.unless_told(_guard(asked), "--yolo", "--allow-all", "--allow-all-tools", "--allow-tool")
        argv += ["--usage-output-file", str(asked.folder / USAGE)]
        argv += ["--model", asked.model] if asked.model else []
        argv += [f"--resume={asked.session}"] if asked.session else []
        return Invocation(argv=(*argv, *asked.args), env={"COPILOT_AUTO_UPDATE": "false"}, left=(USAGE,))

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard)
        asks, options = question(story.question) if kind == "question" else ("", ())
        total = _total(heard.files.get(USAGE, b""))
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=story.text,
            usage=total or Usage(estimated=True),
            cumulative=total is not None,
            session=str(as_dict(story.result).get("sessionId") or ""),
            reset_at=reset_at,
            question=asks,
            options=options,
            model=story.model,
        )

    def show(self, event: Event) -> list[Shown]:
        data = as_dict(event.get("data"))
        match event.get("type"):
            case "assistant.message":
                return said(data.get("content"))
            case "tool.execution_start":
                return called(data.get("toolName"), as_dict(data.get("arguments")))
            case "tool.execution_complete":
                told = as_dict(data.get("error")).get("message") or as_dict(data.get("result")).get("content")
                return answered(told, failed=data.get("success") is False)
            case "model.call_failure":
                return noticed(f"the model's provider answered {data.get('statusCode')}: {data.get('errorMessage')}")
            case "session.error":
                return noticed(data.get("message"))
        return []


COPILOT = Copilot()


def _guard(asked: TurnRequest) -> tuple[str, ...]:
    return ("--yolo",) if asked.sandboxed else ("--allow-all-tools", "--add-dir", str(asked.folder))


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    if story.error:
        return _failure(story.error, heard.now)
    if story.aborted:
        return "killed", STOPPED, None
    if story.result is None:
        return _unfinished(heard)
    if story.result.get("exitCode") != 0:
        return "crashed", f"Copilot ended with status {story.result.get('exitCode')}", None
    return ended_well(story.question, story.refused)


def _unfinished(heard: ProgramOutput) -> HowEnded:
    lines = [line.strip() for line in heard.stderr_text.splitlines() if line.strip()]
    if _PACKED in heard.stderr_text:
        return "not_installed", UNPACK, None
    no_login = next((line for line in lines if _NO_LOGIN.search(line)), "")
    if no_login:
        return "not_logged_in", no_login, None
    lost = next((line for line in lines if _LOST.search(line)), "")
    return ("context_full", lost, None) if lost else ("crashed", NO_RESULT, None)


def _failure(error: Event, now: datetime) -> HowEnded:
    said, status = str(error.get("message") or ""), as_count(error.get("statusCode"))
    words = _LAST.sub("", said)
    named = _CODES.get(str(error.get("errorCode"))) or _TYPES.get(str(error.get("errorType")))
    if named == "context_full" or _TOO_LONG.search(words):
        return "context_full", said, None
    found = recognise_error({"message": words, "status": str(status or "")}, now, zones)
    if named is not None:
        return named, said, found.reset_at if found else None
    if found is not None:
        return found.kind, said, found.reset_at
    if status == PAYMENT_REQUIRED:
        return "usage_limit", said, None
    if status >= _SERVER_FAULT or unreachable(words):
        return "overloaded", said, None
    return "crashed", said or NO_RESULT, None


def _total(file: bytes) -> Usage | None:
    """What the conversation has used so far; premium requests and AI units are no money."""
    told = as_object(file)
    if not told:
        return None
    models = [as_dict(as_dict(one).get("usage")) for one in as_dict(told.get("modelMetrics")).values()]
    return Usage(
        sum(as_count(model.get("inputTokens")) for model in models),
        sum(as_count(model.get("outputTokens")) for model in models),
    )
