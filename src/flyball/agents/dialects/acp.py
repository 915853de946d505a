"""Any agent that speaks the Agent Client Protocol, through a client of our own that runs beside it in the sandbox."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, answered, called, noticed, piece
from flyball.agents.display.tool_calls import call_line, question
from flyball.agents.reading.loose_json import as_count, as_dict, as_money
from flyball.agents.reading.unreachable import unreachable
from flyball.agents.run.outcome import zones
from flyball.core.extras import install_command
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_RESULT = "the agent ended before it answered"
_STOPPED: dict[str, tuple[TurnKind, str]] = {
    "max_tokens": ("context_full", "the answer reached the model's limit of tokens"),
    "max_turn_requests": ("max_turns", "the agent reached its own limit of requests in a turn"),
    "refusal": ("crashed", "the model refused to go on"),
    "cancelled": ("crashed", "the turn was cancelled"),
}
# The protocol has no errors for limits: each agent puts its own word into the data of a common one.
_WORDS: dict[str, TurnKind] = {
    **dict.fromkeys(("usagelimitexceeded", "billing_error", "usage_limit", "quota_exceeded"), "usage_limit"),
    **dict.fromkeys(("rate_limit", "ratelimitexceeded", "overloaded", "serveroverloaded"), "overloaded"),
    **dict.fromkeys(("server_error", "httpconnectionfailed", "internalservererror"), "overloaded"),
    **dict.fromkeys(("authentication_failed", "unauthorized", "oauth_org_not_allowed"), "not_logged_in"),
    **dict.fromkeys(("contextwindowexceeded", "prompt_too_long"), "context_full"),
}
AUTH_REQUIRED, NOT_FOUND = -32000, -32002
_SERVER_FAULTS = range(500, 600)
# Goose and Copilot end a turn well and tell the failure as if the model had said it.
_FAILED = re.compile(r"(?:Ran into this error|Error|Execution failed|Failed to get response from the AI model)\b\W")
_TOO_LONG = re.compile(r"context (?:length|window|limit)|too many tokens|prompt is too long", re.IGNORECASE)
_MODE = re.compile(r"\[MODE_UPDATE\] \w+")


class _Story:
    """What the events of one turn add up to."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.session, self.text, self.usd = "", "", 0.0
        self.result: Event | None = None
        self.error: Event | None = None
        self.refused: list[str] = []
        self.question: Event = {}
        self.calls = 0
        self._speaking = False
        for event in lines:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event.get("type"):
            case "session":
                self.session = str(event.get("session") or "")
            case "update":
                self._update(as_dict(event.get("update")))
            case "permission" if not event.get("granted"):
                self.refused.append(call_line(event.get("tool"), as_dict(event.get("input"))))
            case "question":
                self.question = event
            case "result":
                self.result = event
            case "error":
                self.error = event

    def _update(self, update: Event) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                said = str(as_dict(update.get("content")).get("text") or "")
                if not _MODE.fullmatch(said.strip()):
                    self.text, self._speaking = (self.text + said if self._speaking else said), True
            case "tool_call" | "tool_call_update":
                self.calls, self._speaking = self.calls + 1, False
            case "usage_update":
                self.usd = as_money(as_dict(update.get("cost")).get("amount")) or self.usd

    @property
    def failure(self) -> str:
        """An error the agent passed off as its answer: all of the text, with no work done after it began."""
        return self.text if self._speaking and _FAILED.match(self.text) else ""


class Acp(msgspec.Struct, frozen=True):
    """An agent's command; the folders and variables its program needs come from whoever knows the program."""

    command: tuple[str, ...]
    variables: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    install: str = f"install the agent's own program, and type: {install_command('acp', sys.executable)}"
    login: str = "log in with the agent's own program"

    @property
    def name(self) -> str:
        return "acp"

    @property
    def program(self) -> str:
        return self.command[0]

    @property
    def tells_money(self) -> bool:
        """Some do; of the others the first turn shows it."""
        return True

    @property
    def version_argv(self) -> tuple[str, ...]:
        return (self.program, "--version")

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:  # noqa: ARG002 - the protocol's word
        return None

    def invoke(self, asked: TurnRequest) -> Invocation:
        # -P: a module in the workspace must not stand in for one of ours.
        argv = [sys.executable, "-P", "-m", "flyball.agents.acp_client"]
        argv += ["--session", asked.session] if asked.session else []
        argv += ["--model", asked.model] if asked.model else []
        return Invocation(argv=(*argv, "--", *self.command, *asked.args))

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard.now)
        asks, options = question(story.question) if kind == "question" else ("", ())
        last = heard.stderr_text.strip().rpartition("\n")[2] if kind == "crashed" else ""
        return TurnReading(
            kind=kind,
            detail=": ".join(filter(None, (detail, last))),
            final_message="" if story.failure and kind != "ok" else story.text,
            usage=_usage(story),
            session=story.session,
            reset_at=reset_at,
            question=asks,
            options=options,
        )

    def show(self, event: Event) -> list[Shown]:
        update = as_dict(event.get("update"))
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                return piece(as_dict(update.get("content")).get("text"))
            case "tool_call":
                return called(update.get("title"), {})
            case "tool_call_update" if update.get("status") in ("completed", "failed"):
                return answered(update.get("content"), failed=update.get("status") == "failed")
        return noticed(event.get("text") or event.get("message"))


def _outcome(story: _Story, now: datetime) -> HowEnded:
    if story.error is not None:
        return _failure(story.error, now)
    if story.result is None:
        return "crashed", NO_RESULT, None
    reason = str(story.result.get("stop_reason"))
    if story.question and reason in ("end_turn", "cancelled"):
        return "question", "it asked a question", None
    if reason != "end_turn":
        kind, detail = _STOPPED.get(reason, ("crashed", f"the agent stopped with {reason!r}"))
        return kind, detail, None
    if story.failure:
        return _failure({"message": story.failure.partition("\n\n")[0]}, now)
    return ended_well({}, story.refused)


def _failure(error: Event, now: datetime) -> HowEnded:
    said, data, code = str(error.get("message") or ""), error.get("data"), error.get("code")
    words = f"{said}: {data}" if isinstance(data, str) else str(as_dict(data).get("details") or said)
    if error.get("kind") == "not_installed":
        return "not_installed", said, None
    if error.get("kind") == "crashed":
        return "crashed", said, None
    if code == AUTH_REQUIRED:
        return "not_logged_in", words, None
    if code == NOT_FOUND or _TOO_LONG.search(words):
        return "context_full", words, None
    known = next((_WORDS[word] for value in as_dict(data).values() if (word := str(value).lower()) in _WORDS), None)
    found = recognise_error({"message": words, "status": str(code), "data": as_dict(data)}, now, zones)
    if found is not None and known in (None, found.kind, "overloaded"):
        return found.kind, found.detail, found.reset_at
    if known is not None:
        return known, words, None
    transient = code in _SERVER_FAULTS or unreachable(words)
    return ("overloaded" if transient else "crashed"), words or NO_RESULT, None


def _usage(story: _Story) -> Usage:
    """Agents tell the turn's tokens in the protocol's field, or in one of their own, or not at all."""
    result = as_dict(story.result)
    told = as_dict(result.get("usage"))
    counts = as_dict(as_dict(as_dict(result.get("meta")).get("quota")).get("token_count"))
    read = sum(as_count(told.get(name)) for name in ("inputTokens", "cachedReadTokens", "cachedWriteTokens"))
    used = Usage(
        read or as_count(counts.get("input_tokens")),
        as_count(told.get("outputTokens")) or as_count(counts.get("output_tokens")),
        story.usd or None,
    )
    return used if used != Usage() else Usage(estimated=True)
