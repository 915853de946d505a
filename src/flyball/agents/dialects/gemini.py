"""Gemini CLI: how `gemini` is asked without a terminal, and what its stream of events means."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, end_well, find_kind, find_line
from flyball.agents.dialects.event_table import (
    EventRow,
    EventTable,
    StreamDialect,
    StreamSummary,
    count_usage,
    equals,
    look_up,
)
from flyball.agents.reading.loose_json import as_count, as_dict, as_object, object_in
from flyball.agents.run.homes import below

NO_RESULT = "Gemini CLI ended without a result"
DEFAULTS = "gemini-defaults.json"
ASK = "ask_user"
_REFUSED = frozenset({"policy_violation", "permission_denied", "path_not_in_workspace", "sandbox_expansion_required"})
_GUARDED_TOOLS = frozenset({"replace", "write_file", "run_shell_command"})
"""Without approval these are not even offered: a call of one is a denial, a call of any other a mistake of the model's."""
# An API failure ends it with the lowest eight bits of the HTTP status.
_STATUS = {status & 255: status for status in (400, 401, 403, 404, 429, 500, 502, 503, 504, 529)}
_QUOTED = re.compile(r"\[API Error: (.*?)\](?:\n|$)", re.DOTALL)
_NO_LOGIN = re.compile(r"set an Auth method|Invalid auth method|API key not valid|API_KEY_INVALID", re.IGNORECASE)
_FAILURES: Words = (
    (
        "context_full",
        re.compile(r"exceeds the maximum number of tokens|context window|token limit exceeded", re.IGNORECASE),
    ),
    ("not_logged_in", _NO_LOGIN),
)
_GUARDS = {
    True: ("--approval-mode", "yolo"),
    False: ("--approval-mode", "auto_edit", "--allowed-tools", "run_shell_command"),
}
"""By whether flyball's sandbox holds it. Its own tools keep to the tree and its folder; commands are not offered unless allowed."""
EXIT_NO_LOGIN, EXIT_BAD_INPUT, EXIT_MAX_TURNS = 41, 42, 53
_UNFINISHED: dict[int | None, Words] = {
    EXIT_NO_LOGIN: (("not_logged_in", _NO_LOGIN),),
    EXIT_BAD_INPUT: (
        ("context_full", re.compile(r"Error resuming session|No previous sessions found|Invalid session identifier")),
    ),
}
"""What it says on standard error when it cannot even begin."""


def _is_refused(event: Event) -> bool:
    reason = as_dict(event.get("error")).get("type")
    return reason in _REFUSED or (reason == "tool_not_registered" and event["call"].get("name") in _GUARDED_TOOLS)


_EVENTS = EventTable(
    asking=ASK,
    rows={
        "init": EventRow(session="session_id", model="model"),
        "message": EventRow(piece=lambda event: event.get("content") if event.get("role") == "assistant" else ""),
        "tool_use": EventRow(call="tool_name", call_id="tool_id", inputs="parameters"),
        "tool_result": EventRow(
            result="error.message|output", call_id="tool_id", failed=equals("status", "error"), refused=_is_refused
        ),
        "error": EventRow(notice="message"),
        "result": EventRow(end=True),
    },
)


class Gemini(StreamDialect):
    """Version 0.61 and later."""

    name = "gemini"
    events = _EVENTS
    tells_money = False
    install = "npm install --global @google/gemini-cli"
    login = "gemini, then choose how to sign in (or set GEMINI_API_KEY)"
    variables = (
        *("GEMINI_API_KEY", "GEMINI_MODEL", "GEMINI_CLI_HOME", "GEMINI_SYSTEM_MD", "GOOGLE_API_KEY"),
        *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS"),
    )
    homes = (".gemini", "$GEMINI_CLI_HOME/.gemini")
    guarded = below(
        homes,
        *("settings.json", "GEMINI.md", ".env", "trustedFolders.json"),
        *("commands", "extensions", "agents", "skills", "policies"),
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        folder = Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini"
        if any(map(environment.get, ("GEMINI_API_KEY", "GOOGLE_API_KEY"))) or (folder / "oauth_creds.json").is_file():
            return True
        if any(map(environment.get, ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"))):
            return None
        # A key may also be kept in the system's keyring, which is not looked into.
        chosen = look_up(object_in(folder / "settings.json"), "security.auth.selectedType")
        stored = any((folder / name).is_file() for name in (".env", "gemini-credentials.json"))
        return None if chosen or stored else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Approval is left to flyball's sandbox; it would otherwise start itself a second time and outlive a signal."""
        argv = ["gemini", "--output-format", "stream-json", "--skip-trust"]
        argv += asked.add_unless_given(_GUARDS[asked.sandboxed], "--approval-mode", "--yolo", "-y")
        argv += ["--include-directories", str(asked.folder), *asked.options(session="--resume")]
        env = {
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_SANDBOX": "false",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(asked.folder / DEFAULTS),
        }
        # Settings below the user's own.
        settings: Event = {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "context": {"fileName": ["GEMINI.md", "AGENTS.md"]},
        }
        if asked.max_turns:
            settings["model"] = {"maxSessionTurns": asked.max_turns}
        return Invocation(argv=(*argv, *asked.args), env=env, files={DEFAULTS: json.dumps(settings).encode()})

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        stats = as_dict(as_dict(summary.end).get("stats"))
        # A conversation without an answer is not kept.
        session = summary.session if summary.has_answer or heard.asked.session else ""
        return summary.reading(_ending(summary, heard), count_usage(stats) if stats else None, session=session)


GEMINI = Gemini()


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    if summary.end is None:
        known = find_line(heard.stderr_lines, _UNFINISHED.get(heard.exit.code, ()))
        return known or ("crashed", ": ".join((NO_RESULT, *heard.stderr_lines[-1:])), None)
    if summary.end.get("status") != "success":
        return _failure(as_dict(summary.end.get("error")), heard)
    return end_well(summary.question, summary.refused)


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    said = str(error.get("message") or "")
    if error.get("type") == "FatalTurnLimitedError" or heard.exit.code == EXIT_MAX_TURNS:
        return "max_turns", said, None
    # The provider's error object, where the message holds one; else its text.
    found = _QUOTED.search(said)
    text = found[1] if found else said
    answer = as_object(text)
    inner = as_dict(answer.get("error")) if answer else {"message": " ".join(text.split())}
    words = str(inner.get("message") or said)
    status = as_count(inner.get("code")) or _STATUS.get(heard.exit.code or 0, 0)
    known = find_kind(words, _FAILURES) or find_kind(said, _FAILURES[1:])
    return end_failed(ProviderFailure(said=words, known=known, status=status), heard, NO_RESULT)
