"""Gemini CLI: how `gemini` is asked without a terminal, and what its stream of events means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, answered, called, noticed, piece
from flyball.agents.display.tool_calls import call_line, question
from flyball.agents.reading.loose_json import as_count, as_dict, as_object, object_in
from flyball.agents.reading.unreachable import unreachable
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import Usage
from flyball.core.providers.limits import recognise_error

NO_RESULT = "Gemini CLI ended without a result"
DEFAULTS = "gemini-defaults.json"
ASK = "ask_user"
_REFUSED = frozenset({"policy_violation", "permission_denied", "path_not_in_workspace", "sandbox_expansion_required"})
_UNREGISTERED = "tool_not_registered"
_GUARDED_TOOLS = frozenset({"replace", "write_file", "run_shell_command"})
"""Without approval these are not even offered: a call of one is a denial, a call of any other a mistake of the model's."""
# An API failure ends it with the lowest eight bits of the HTTP status.
_STATUS = {status & 255: status for status in (400, 401, 403, 404, 429, 500, 502, 503, 504, 529)}
_TOO_LONG = re.compile(r"exceeds the maximum number of tokens|context window|token limit exceeded", re.IGNORECASE)
_QUOTED = re.compile(r"\[API Error: (.*?)\](?:\n|$)", re.DOTALL)
_NO_LOGIN = re.compile(r"set an Auth method|Invalid auth method|API key not valid|API_KEY_INVALID", re.IGNORECASE)
_LOST = re.compile(r"Error resuming session|No previous sessions found|Invalid session identifier")
_SERVER_FAULT = 500
EXIT_NO_LOGIN, EXIT_BAD_INPUT, EXIT_MAX_TURNS = 41, 42, 53


class _Story:
    """What the events of one run add up to."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.session, self.model, self.text = "", "", ""
        self.result: Event | None = None
        self.question: Event = {}
        self.refused: list[str] = []
        self._calls: dict[str, Event] = {}
        self._speaking = False
        for event in lines:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event.get("type"):
            case "init":
                self.session, self.model = str(event.get("session_id") or ""), str(event.get("model") or "")
            case "message" if event.get("role") == "assistant":
                said = str(event.get("content") or "")
                self.text, self._speaking = (self.text + said if self._speaking else said), True
            case "tool_use":
                self._calls[str(event.get("tool_id"))], self._speaking = event, False
            case "tool_result":
                self._speaking = False
                if event.get("status") == "error":
                    self._refused(event)
            case "result":
                self.result = event

    @property
    def begun(self) -> bool:
        """Whether the model answered at all: a conversation without an answer is not kept."""
        return bool(self.text or self._calls)

    def _refused(self, event: Event) -> None:
        call = self._calls.get(str(event.get("tool_id")), {})
        name, inputs = str(call.get("tool_name")), as_dict(call.get("parameters"))
        reason = as_dict(event.get("error")).get("type")
        if name == ASK:
            self.question = inputs
        elif reason in _REFUSED or (reason == _UNREGISTERED and name in _GUARDED_TOOLS):
            self.refused.append(call_line(name, inputs))


class Gemini:
    """Version 0.61 and later."""

    name = "gemini"
    program = "gemini"
    version_argv = ("gemini", "--version")
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
        if any(environment.get(name) for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY")):
            return True
        folder = Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini"
        if (folder / "oauth_creds.json").is_file():
            return True
        elsewhere = environment.get("GOOGLE_GENAI_USE_VERTEXAI") or environment.get("GOOGLE_GENAI_USE_GCA")
        # A key may also be kept in the system's keyring, which is not looked into.
        chosen = any((folder / name).is_file() for name in (".env", "gemini-credentials.json")) or _auth_chosen(folder)
        return None if elsewhere or chosen else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Approval is left to flyball's sandbox; it would otherwise start itself a second time and outlive a signal."""
        argv = ["gemini", "--output-format", "stream-json", "--skip-trust"]
        argv += asked.unless_told(_guard(asked), "--approval-mode", "--yolo", "-y")
        argv += ["--include-directories", str(asked.folder)]
        argv += ["--model", asked.model] if asked.model else []
        argv += ["--resume", asked.session] if asked.session else []
        env = {
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_SANDBOX": "false",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": str(asked.folder / DEFAULTS),
        }
        return Invocation(argv=(*argv, *asked.args), env=env, files={DEFAULTS: _defaults(asked)})

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard)
        asks, options = question(story.question) if kind == "question" else ("", ())
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=story.text,
            usage=_usage(story.result),
            session=story.session if story.begun or heard.asked.session else "",
            reset_at=reset_at,
            question=asks,
            options=options,
            model=story.model,
        )

    def show(self, event: Event) -> list[Shown]:
        match event.get("type"):
            case "message" if event.get("role") == "assistant":
                return piece(event.get("content"))
            case "tool_use":
                return called(event.get("tool_name"), as_dict(event.get("parameters")))
            case "tool_result":
                told = as_dict(event.get("error")).get("message") or event.get("output")
                return answered(told, failed=event.get("status") == "error")
            case "error":
                return noticed(event.get("message"))
        return []


GEMINI = Gemini()


def _guard(asked: TurnRequest) -> tuple[str, ...]:
    """Its own tools keep to the tree and its folder; commands are not offered unless they are allowed."""
    if asked.sandboxed:
        return ("--approval-mode", "yolo")
    return ("--approval-mode", "auto_edit", "--allowed-tools", "run_shell_command")


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    if story.result is None:
        return _unfinished(heard)
    if story.result.get("status") != "success":
        return _failure(as_dict(story.result.get("error")), heard)
    return ended_well(story.question, story.refused)


def _unfinished(heard: ProgramOutput) -> HowEnded:
    """What it says on standard error when it cannot even begin."""
    lines = [line.strip() for line in heard.stderr_text.splitlines() if line.strip()]
    no_login = next((line for line in lines if _NO_LOGIN.search(line)), "")
    if no_login and heard.exit.code == EXIT_NO_LOGIN:
        return "not_logged_in", no_login, None
    lost = next((line for line in lines if _LOST.search(line)), "")
    if lost and heard.exit.code == EXIT_BAD_INPUT:
        return "context_full", lost, None
    return "crashed", ": ".join((NO_RESULT, *lines[-1:])), None


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    said = str(error.get("message") or "")
    if error.get("type") == "FatalTurnLimitedError" or heard.exit.code == EXIT_MAX_TURNS:
        return "max_turns", said, None
    status = _STATUS.get(heard.exit.code or 0)
    inner = _quoted(said)
    words = str(inner.get("message") or said)
    if _TOO_LONG.search(words):
        return "context_full", words, None
    if _NO_LOGIN.search(said):
        return "not_logged_in", words, None
    found = recognise_error({"message": words, "status": str(inner.get("code") or status or "")}, heard.now, zones)
    if found is not None:
        return found.kind, found.detail, found.reset_at
    if (as_count(inner.get("code")) or status or 0) >= _SERVER_FAULT or unreachable(words):
        return "overloaded", words, None
    return "crashed", words or NO_RESULT, None


def _quoted(message: str) -> Event:
    """The provider's error object, where the message holds one; else its text."""
    found = _QUOTED.search(message)
    text = found[1] if found else message
    answer = as_object(text)
    return as_dict(answer.get("error")) if answer else {"message": " ".join(text.split())}


def _usage(result: Event | None) -> Usage:
    """What this run used; there is no price in it."""
    stats = as_dict(as_dict(result).get("stats"))
    if not stats:
        return Usage(estimated=True)
    return Usage(as_count(stats.get("input_tokens")), as_count(stats.get("output_tokens")))


def _defaults(asked: TurnRequest) -> bytes:
    """Settings below the user's own."""
    settings: Event = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "context": {"fileName": ["GEMINI.md", "AGENTS.md"]},
    }
    if asked.max_turns:
        settings["model"] = {"maxSessionTurns": asked.max_turns}
    return json.dumps(settings).encode()


def _auth_chosen(folder: Path) -> bool:
    security = as_dict(object_in(folder / "settings.json").get("security"))
    return bool(as_dict(security.get("auth")).get("selectedType"))
