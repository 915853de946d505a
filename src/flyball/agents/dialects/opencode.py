"""OpenCode: how `opencode run` is asked, and what its stream of parts means; it has no final event."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, end_failed, end_lost, end_well
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, equals, look_up
from flyball.agents.display.display import call_line
from flyball.agents.reading.loose_json import as_count, as_dict, as_money, as_object, object_in, sum_counts
from flyball.agents.run.homes import below
from flyball.core.model.outcomes import TurnKind, Usage

NO_END = "OpenCode ended before its answer was finished"
ASK = "question"
_OFFERED = frozenset({"bash", "edit", "write", "patch"})
"""Tools every model is offered unless the user's rules deny them."""
_REFUSED = re.compile(r"rejected permission|rule which prevents|permission .*denied", re.IGNORECASE)
_LOGGED = re.compile(r'\blevel=ERROR\b.*?\berror="([^"]+)"')
"""A fault of its own is told by a reference to its log alone."""
_NAMED: dict[str, TurnKind] = {
    "ContextOverflowError": "context_full",
    "MessageOutputLengthError": "context_full",
    "ProviderAuthError": "not_logged_in",
}
_RETRY = ("retry-after", "retry-after-ms", "x-ratelimit-reset")
_RETRYING = r'message="stream error" .*\bsmall=false\b'
"""Of a title, which a small model makes, nothing depends."""


def _unpack(event: Event) -> Iterator[tuple[str, Event]]:
    part = as_dict(event.get("part"))
    if not part.get("synthetic"):
        yield str(event.get("type")), part or event


def _tool(part: Event) -> tuple[Any, Event, bool]:
    """A tool, its inputs, and whether it is not offered, since it is denied or nobody is there to answer: it is `invalid` then."""
    inputs = as_dict(look_up(part, "state.input"))
    if part.get("tool") != "invalid":
        return part.get("tool"), inputs, False
    return inputs.get("tool"), inputs, "unavailable tool" in str(inputs.get("error"))


def _find_question(part: Event) -> Event:
    name, inputs, unoffered = _tool(part)
    failed = unoffered or look_up(part, "state.status") == "error"
    return {"inputs": inputs} if name == ASK and failed else {}


def _denied_line(part: Event) -> str:
    name, inputs, unoffered = _tool(part)
    refused = _REFUSED.search(str(look_up(part, "state.error") or "")) and not _find_question(part)
    return call_line(name, inputs) if refused or (unoffered and name in _OFFERED) else ""


def _step_usage(part: Event) -> Usage:
    tokens = as_dict(part.get("tokens"))
    read = sum_counts([tokens], "input") + sum_counts([tokens.get("cache")], "read", "write")
    return Usage(read, sum_counts([tokens], "output", "reasoning"), as_money(part.get("cost")))


def _message(error: Event) -> str:
    return str(as_dict(error.get("data")).get("message") or error.get("message") or error.get("name") or NO_END)


_EVENTS = EventTable(
    session="sessionID",
    unpack=_unpack,
    rows={
        "text": EventRow(text="text", message="messageID", joint="\n"),
        "tool_use": EventRow(
            call="tool",
            inputs="state.input",
            result="state.error|state.output",
            failed=equals("state.status", "error"),
            denied=_denied_line,
            question=_find_question,
        ),
        "step_finish": EventRow(
            usage=_step_usage, notes={"reason": lambda part: str(part.get("reason") or ""), "error": lambda _: {}}
        ),
        "error": EventRow(
            notice=lambda event: _message(as_dict(event.get("error"))),
            notes={"error": lambda event: as_dict(event.get("error")) or {"name": "UnknownError"}},
        ),
    },
)
"""The last step or error is how a run ended."""


class OpenCode(StreamDialect):
    """Version 1.18 and later."""

    name = "opencode"
    events = _EVENTS
    tells_money = True
    install = "npm install --global opencode-ai"
    login = "opencode auth login (or set the provider's own key, for example ANTHROPIC_API_KEY)"
    variables = (
        *("OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR", "OPENCODE_API_KEY"),
        *("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_LSP_DOWNLOAD"),
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        *("OPENROUTER_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "MISTRAL_API_KEY"),
    )
    homes = (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode")
    guarded = (
        *below(homes[:1], "opencode.json", "opencode.jsonc", "config.json", "AGENTS.md"),
        *below(homes[:1], "package.json", "node_modules"),
        *below(homes[:1], "agent", "command", "mode", "plugin", "skill", "tool"),
        *below(homes[:1], "agents", "commands", "modes", "plugins", "skills", "tools"),
        *below((".cache/opencode",), "bin", "node_modules", "packages"),
        ".local/share/opencode/bin",
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if any(environment.get(name) for name in self.variables if name.endswith("_API_KEY")):
            return True
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share") / "opencode"
        # Without a login there are its own free models, and models on this machine.
        return True if object_in(data / "auth.json") else None

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Permission is left to flyball's sandbox; its log is the only place where it says that it waits."""
        argv = ["opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"]
        argv += [*(["--auto"] if asked.sandboxed else []), *asked.options(session="--session"), *asked.args]
        return Invocation(argv=tuple(argv), env={"OPENCODE_DISABLE_AUTOUPDATE": "1"}, retrying=_RETRYING)

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        reading = summary.reading(_ending(summary, heard), summary.usage)
        asks = summary.text if reading.kind == "question" else ""
        return msgspec.structs.replace(reading, question=asks, options=())


OPENCODE = OpenCode()


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    reason = summary.notes.get("reason")
    if summary.notes.get("error"):
        return _failure(summary.notes["error"], heard)
    if reason == "stop" or summary.refused:
        return end_well(summary.question if reason == "stop" else {}, summary.refused)
    if "Session not found" in heard.stderr_text:
        return end_lost(heard)
    return "crashed", f"{NO_END} (its last step ended with {reason!r})" if reason else NO_END, None


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    data, said = as_dict(error.get("data")), _message(error)
    if data.get("ref"):
        logged = _LOGGED.findall(heard.stderr_text)
        return "crashed", logged[-1] if logged else said, None
    headers = as_dict(data.get("responseHeaders"))
    failure = ProviderFailure(
        said=said,
        known=_NAMED.get(str(error.get("name"))),
        status=as_count(data.get("statusCode")),
        transient=data.get("isRetryable") is True,
        told={
            "body": as_object(str(data.get("responseBody"))),
            "headers": {name: headers[name] for name in _RETRY if headers.get(name)},
        },
    )
    return end_failed(failure, heard, NO_END)
