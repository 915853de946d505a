"""Any agent that speaks the Agent Client Protocol, through a client of our own that runs beside it in the sandbox."""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, end_failed, end_well
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, count_usage, look_up
from flyball.agents.display.display import call_line
from flyball.agents.reading.loose_json import as_count, as_dict, as_money
from flyball.core.extras import install_command
from flyball.core.model.outcomes import TurnKind, Usage

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
# Goose and Copilot end a turn well and tell the failure as if the model had said it.
_FAILED = re.compile(r"(?:Ran into this error|Error|Execution failed|Failed to get response from the AI model)\b\W")
_TOO_LONG = re.compile(r"context (?:length|window|limit)|too many tokens|prompt is too long", re.IGNORECASE)
_MODE = re.compile(r"\[MODE_UPDATE\] \w+")


def _unpack(event: Event) -> Iterator[tuple[str, Event]]:
    """An update is named by its own type, and where a call has ended by how it did."""
    if event.get("type") != "update":
        yield str(event.get("type")), event
        return
    update = as_dict(event.get("update"))
    kind, status = update.get("sessionUpdate"), update.get("status")
    ended = kind == "tool_call_update" and status in ("completed", "failed")
    yield f"update {kind} {status}" if ended else f"update {kind}", update


_EVENTS = EventTable(
    unpack=_unpack,
    rows={
        "session": EventRow(session="session"),
        "update agent_message_chunk": EventRow(
            unless=lambda update: _MODE.fullmatch(str(look_up(update, "content.text")).strip()), piece="content.text"
        ),
        "update tool_call": EventRow(call="title"),
        "update tool_call_update": EventRow(step=True),
        "update tool_call_update completed": EventRow(result="content"),
        "update tool_call_update failed": EventRow(result="content", failed=lambda _: True),
        "update usage_update": EventRow(notes={"usd": lambda update: as_money(look_up(update, "cost.amount")) or None}),
        "permission": EventRow(
            unless="granted", denied=lambda event: call_line(event.get("tool"), as_dict(event.get("input")))
        ),
        "question": EventRow(question=lambda event: event, notice="text"),
        "result": EventRow(end=True),
        "error": EventRow(notice="message", notes={"error": lambda event: event}),
    },
)


def _disguised_failure(summary: StreamSummary) -> str:
    """An error the agent passed off as its answer: all of the text, with no work done after it began."""
    return summary.text if summary.speaking and _FAILED.match(summary.text) else ""


class Acp(StreamDialect, msgspec.Struct, frozen=True):
    """An agent's command; the folders and variables its program needs come from whoever knows the program."""

    name: ClassVar[str] = "acp"
    events: ClassVar[EventTable] = _EVENTS
    tells_money: ClassVar[bool] = True
    """Some do; of the others the first turn shows it."""
    command: tuple[str, ...]
    variables: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    install: str = f"install the agent's own program, and type: {install_command('acp', sys.executable)}"
    login: str = "log in with the agent's own program"

    @property
    def program(self) -> str:
        return self.command[0]

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:  # noqa: ARG002 - the protocol's word
        return None

    def invoke(self, asked: TurnRequest) -> Invocation:
        # -P: a module in the workspace must not stand in for one of ours.
        argv = [sys.executable, "-P", "-m", "flyball.agents.acp_client"]
        return Invocation(argv=(*argv, *asked.options(session="--session"), "--", *self.command, *asked.args))

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        kind, detail, reset_at = _ending(summary, heard)
        last = heard.stderr_text.strip().rpartition("\n")[2] if kind == "crashed" else ""
        return summary.reading(
            (kind, ": ".join(filter(None, (detail, last))), reset_at),
            _usage(summary),
            message="" if kind != "ok" and _disguised_failure(summary) else None,
        )


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    if "error" in summary.notes:
        return _failure(summary.notes["error"], heard)
    if summary.end is None:
        return "crashed", NO_RESULT, None
    reason = str(summary.end.get("stop_reason"))
    if summary.question and reason in ("end_turn", "cancelled"):
        return end_well(summary.question, ())
    if reason != "end_turn":
        kind, detail = _STOPPED.get(reason, ("crashed", f"the agent stopped with {reason!r}"))
        return kind, detail, None
    failure = _disguised_failure(summary)
    if failure:
        return _failure({"message": failure.partition("\n\n")[0]}, heard)
    return end_well({}, summary.refused)


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    said, data, code = str(error.get("message") or ""), error.get("data"), error.get("code")
    if error.get("kind") in ("not_installed", "crashed"):
        return error["kind"], said, None
    words = f"{said}: {data}" if isinstance(data, str) else str(as_dict(data).get("details") or said)
    known = next((_WORDS[word] for value in as_dict(data).values() if (word := str(value).lower()) in _WORDS), None)
    if code == AUTH_REQUIRED:
        known = "not_logged_in"
    elif code == NOT_FOUND or _TOO_LONG.search(words):
        known = "context_full"
    failure = ProviderFailure(
        said=words,
        known=None if known == "overloaded" else known,
        status=as_count(code),
        transient=known == "overloaded",
        told={"data": as_dict(data)},
    )
    return end_failed(failure, heard, NO_RESULT)


def _usage(summary: StreamSummary) -> Usage | None:
    """Agents tell the turn's tokens in the protocol's field, or in one of their own, or not at all."""
    result = as_dict(summary.end)
    read = ("inputTokens", "cachedReadTokens", "cachedWriteTokens")
    told = count_usage(result.get("usage"), read=read, written=("outputTokens",))
    own = count_usage(look_up(result, "meta.quota.token_count"))
    used = Usage(
        told.input_tokens or own.input_tokens, told.output_tokens or own.output_tokens, summary.notes.get("usd")
    )
    return used if used != Usage() else None
