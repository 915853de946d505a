"""GitHub Copilot CLI: how `copilot` is asked without a terminal, and what its stream of events means."""

import re
from collections.abc import Mapping
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, end_well, find_line
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, count_usage, equals
from flyball.agents.reading.loose_json import as_count, as_dict, as_object
from flyball.agents.run.homes import below
from flyball.core.model.outcomes import TurnKind

NO_RESULT = "Copilot ended without a result"
STOPPED = "Copilot was told to stop"
# What it unpacks is run outside the sandbox, too, so that nothing in the sandbox may write it.
UNPACK = "Copilot has not unpacked this version of itself yet; type once: copilot --version"
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
_UNFINISHED: Words = (
    ("not_logged_in", re.compile(r"No authentication information found|not (?:logged|signed) in", re.IGNORECASE)),
    ("context_full", re.compile(r"No session, task, or name matched")),
)
_LAST = re.compile(r".*Last error: ", re.DOTALL)
PAYMENT_REQUIRED = 402


_EVENTS = EventTable(
    asking=ASK,
    unpack=lambda event: [(str(event.get("type")), as_dict(event.get("data", event)))],
    rows={
        "assistant.message": EventRow(
            unless=lambda data: data.get("parentToolCallId") or not data.get("content"),
            text="content",
            model="model",
            notes={"error": lambda _: {}},
        ),
        "tool.execution_start": EventRow(call="toolName", call_id="toolCallId", inputs="arguments"),
        "tool.execution_complete": EventRow(
            result="error.message|result.content",
            call_id="toolCallId",
            failed=equals("success", False),
            refused=equals("error.code", "denied"),
        ),
        "model.call_failure": EventRow(
            notice=lambda data: f"the model's provider answered {data.get('statusCode')}: {data.get('errorMessage')}"
        ),
        "session.error": EventRow(notice="message", notes={"error": lambda data: data}),
        "assistant.idle": EventRow(notes={"aborted": equals("aborted", True)}),
        "result": EventRow(session="sessionId", end=True),
    },
)


class Copilot(StreamDialect):
    """Version 1.0.102 and later."""

    name = "copilot"
    events = _EVENTS
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
        guard = ("--yolo",) if asked.sandboxed else ("--allow-all-tools", "--add-dir", str(asked.folder))
        argv = ["copilot", "--output-format", "json", "--no-color", "--no-ask-user"]
        argv += asked.add_unless_given(guard, "--yolo", "--allow-all", "--allow-all-tools", "--allow-tool")
        argv += ["--usage-output-file", str(asked.folder / USAGE), *asked.options()]
        argv += [f"--resume={asked.session}"] if asked.session else []
        return Invocation(argv=(*argv, *asked.args), env={"COPILOT_AUTO_UPDATE": "false"}, left=(USAGE,))

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        told = as_object(heard.files.get(USAGE, b""))
        models = [as_dict(model).get("usage") for model in as_dict(told.get("modelMetrics")).values()]
        # What the conversation has used so far; premium requests and AI units are no money.
        total = count_usage(*models, read=("inputTokens",), written=("outputTokens",)) if told else None
        return summary.reading(_ending(summary, heard), total, cumulative=True)


COPILOT = Copilot()


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    if summary.notes.get("error"):
        return _failure(summary.notes["error"], heard)
    if summary.notes.get("aborted"):
        return "killed", STOPPED, None
    if summary.end is None and "Failed to extract bundled package" in heard.stderr_text:
        return "not_installed", UNPACK, None
    if summary.end is None:
        return find_line(heard.stderr_lines, _UNFINISHED) or ("crashed", NO_RESULT, None)
    if summary.end.get("exitCode") != 0:
        return "crashed", f"Copilot ended with status {summary.end.get('exitCode')}", None
    return end_well(summary.question, summary.refused)


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    said, status = str(error.get("message") or ""), as_count(error.get("statusCode"))
    words = _LAST.sub("", said)
    named = _CODES.get(str(error.get("errorCode"))) or _TYPES.get(str(error.get("errorType")))
    if named == "context_full" or _TOO_LONG.search(words):
        return "context_full", said, None
    kind, _, reset_at = end_failed(ProviderFailure(said=words, known=named, status=status), heard, NO_RESULT)
    if status == PAYMENT_REQUIRED and kind == "crashed":
        kind = "usage_limit"
    return kind, said or NO_RESULT, reset_at
