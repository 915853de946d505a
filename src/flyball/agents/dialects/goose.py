"""Goose: how `goose run` is asked, and what its stream of messages means; it ends with status 0 whatever its provider answers."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.display.display import Shown, answered, called, message_parts, noticed, piece, said
from flyball.agents.reading.loose_json import as_count, as_dict, as_list
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_END = "Goose ended without completing its run"
GONE = "No session found"
_FAILED = "Ran into this error"
_NOTICES: tuple[tuple[TurnKind, re.Pattern[str]], ...] = (
    ("max_turns", re.compile(r"I've reached the maximum number of actions")),
    ("context_full", re.compile(rf"{_FAILED} trying to compact|{_FAILED}: Context (?:length|limit)")),
    ("overloaded", re.compile(rf"(?:{_FAILED}: )?(?:Server error|Network error|Request timed out)")),
)
_APPROVAL = re.compile(r"Tool approval required in non-interactive mode.*")
_NOT_SET_UP = re.compile(r"goose configure|[Uu]nknown provider|No provider configured")
_KEYLESS = frozenset(
    {"ollama", "local", "claude-code", "claude-acp", "codex", "codex-acp", "gemini-cli", "cursor-agent"}
)


class _Story:
    """What the messages of one run add up to; those without an id are Goose's own notices."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.text, self.spent, self._unsigned = "", "", ""
        self.end: Event | None = None
        self.begun = False
        self._speaking: object = None
        for event in lines:
            self.begun = True
            if event.get("type") == "complete":
                self.end = event
            elif event.get("type") == "message":
                self._message(as_dict(event.get("message")))

    def _message(self, message: Event) -> None:
        if message.get("role") != "assistant":
            self._speaking = None
            return
        for part in map(as_dict, as_list(message.get("content"))):
            if part.get("notificationType") == "creditsExhausted":
                self.spent = str(part.get("msg") or "the provider's credits are spent")
            if part.get("type") == "text":
                self._spoken(message.get("id"), str(part.get("text") or ""))

    def _spoken(self, message: object, text: str) -> None:
        """A streamed answer comes in pieces with the same id."""
        self._unsigned = text if message is None else ""
        self.text = self.text + text if message is not None and message == self._speaking else text
        self._speaking = message

    @property
    def notice(self) -> str:
        """What Goose itself said last; a provider that gives its messages no id counts tokens all the same."""
        known = self._unsigned.startswith(_FAILED) or any(words.match(self._unsigned) for _, words in _NOTICES)
        return self._unsigned if known or as_dict(self.end).get("total_tokens") is None else ""


class Goose:
    """Version 1.34 and later."""

    name = "goose"
    program = "goose"
    version_argv = ("goose", "--version")
    tells_money = False
    install = "npm install --global @aaif/goose-binary-linux-x64"
    login = "goose configure, with the provider's key in its variable (the sandbox has no keyring)"
    variables = (
        *("GOOSE_PROVIDER", "GOOSE_MODEL", "GOOSE_DISABLE_KEYRING", "GOOSE_CONTEXT_LIMIT", "GOOSE_TEMPERATURE"),
        *("OPENAI_API_KEY", "OPENAI_HOST", "OPENAI_BASE_PATH", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
        *("ANTHROPIC_API_KEY", "ANTHROPIC_HOST", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY", "OLLAMA_HOST"),
        *("DATABRICKS_HOST", "DATABRICKS_TOKEN", "GROQ_API_KEY", "LITELLM_API_KEY", "LITELLM_HOST"),
    )
    homes = (".config/goose", ".local/share/goose", ".local/state/goose")
    guarded = below(
        homes[:1], "config.yaml", "secrets.yaml", "permission.yaml", "custom_providers", "recipes", ".goosehints"
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "goose"
        provider = environment.get("GOOSE_PROVIDER") or _setting(folder / "config.yaml", "GOOSE_PROVIDER")
        if not provider:
            return False
        if provider in _KEYLESS:
            return None
        key = f"{provider.upper().replace('-', '_')}_API_KEY"
        return True if environment.get(key) or _setting(folder / "secrets.yaml", key) else None

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Approval needs a terminal; what it may do is left to flyball's sandbox."""
        argv = ["goose", "run", "-q", "-i", "-", "--output-format", "stream-json", "--with-builtin", "developer"]
        argv += ["--name", _session(asked), *(["--resume"] if asked.session else [])]
        argv += ["--model", asked.model] if asked.model else []
        argv += ["--max-turns", str(asked.max_turns)] if asked.max_turns else []
        # It would sleep for as long as a provider says, in silence; without pauses it gives up and the wait is flyball's.
        return Invocation(argv=(*argv, *asked.args), env={"GOOSE_MODE": "auto", "GOOSE_PROVIDER_SKIP_BACKOFF": "true"})

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard)
        end = story.end or {}
        told = Usage(as_count(end.get("input_tokens")), as_count(end.get("output_tokens")))
        known = bool(told.input_tokens or told.output_tokens)
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message="" if story.notice else story.text,
            usage=told if known else Usage(estimated=True),
            cumulative=known,
            session=_session(heard.asked) if story.begun else "",
            reset_at=reset_at,
        )

    def show(self, event: Event) -> list[Shown]:
        own = as_dict(event.get("message")).get("id") is None
        return [shown for part in message_parts(event) for shown in _part_shown(part, own=own)]


GOOSE = Goose()


def _session(asked: TurnRequest) -> str:
    """Goose never says which conversation it is in, so that flyball names it."""
    return asked.session or f"flyball-{uuid.uuid5(uuid.NAMESPACE_URL, f'{asked.folder}#{asked.nonce}')}"


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    if story.end is None:
        return _unfinished(heard)
    if story.spent:
        return "usage_limit", story.spent, None
    if not story.notice:
        return "ok", "", None
    said = story.notice.partition("\n\n")[0].removeprefix(f"{_FAILED}: ")
    known = next((kind for kind, words in _NOTICES if words.match(story.notice)), None)
    if known:
        return known, said, None
    limit = recognise_error({"message": said}, heard.now, zones)
    return (limit.kind, limit.detail, limit.reset_at) if limit else ("crashed", said, None)


def _unfinished(heard: ProgramOutput) -> HowEnded:
    approval = _APPROVAL.search(heard.stderr_text)
    if approval:
        return "denied", f"denied: {approval[0]}", None
    if GONE in heard.stderr_text:
        return "context_full", f"the conversation {heard.asked.session} is gone", None
    unset = next((line.strip() for line in heard.other if _NOT_SET_UP.search(line)), "")
    return ("not_logged_in", unset, None) if unset else ("crashed", NO_END, None)


def _part_shown(part: Event, *, own: bool) -> list[Shown]:
    """`own` has no id, as Goose's notices; the pieces of an answer have one."""
    match part.get("type"):
        case "text":
            text = str(part.get("text") or "")
            return noticed(text) if own and text.startswith(_FAILED) else said(text) if own else piece(text)
        case "toolRequest":
            call = as_dict(as_dict(part.get("toolCall")).get("value"))
            return called(call.get("name"), as_dict(call.get("arguments")))
        case "toolResponse":
            came = as_dict(part.get("toolResult"))
            value = as_dict(came.get("value"))
            failed = came.get("status") != "success" or value.get("isError") is True
            return answered(value.get("content") or came.get("error"), failed=failed)
        case "systemNotification":
            return noticed(part.get("msg"))
    return []


def _setting(path: Path, name: str) -> str:
    try:
        return str(as_dict(yaml.safe_load(path.read_bytes())).get(name) or "")
    except (OSError, ValueError, yaml.YAMLError):
        return ""
