"""Goose: how `goose run` is asked, and what its stream of messages means; it ends with status 0 whatever its provider answers."""

import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, end_lost, find_kind, find_line
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, count_usage
from flyball.agents.reading.loose_json import as_dict, as_list
from flyball.agents.run.homes import below

NO_END = "Goose ended without completing its run"
GONE = "No session found"
_FAILED = "Ran into this error"
_NOTICES: Words = (
    ("max_turns", re.compile(r"^I've reached the maximum number of actions")),
    ("context_full", re.compile(rf"^{_FAILED}(?: trying to compact|: Context (?:length|limit))")),
    ("overloaded", re.compile(rf"^(?:{_FAILED}: )?(?:Server error|Network error|Request timed out)")),
)
_APPROVAL = re.compile(r"Tool approval required in non-interactive mode.*")
_NOT_SET_UP: Words = (("not_logged_in", re.compile(r"goose configure|[Uu]nknown provider|No provider configured")),)
_KEYLESS = ("ollama", "local", "claude-code", "claude-acp", "codex", "codex-acp", "gemini-cli", "cursor-agent")


def _unpack(event: Event) -> Iterator[tuple[str, Event]]:
    """Messages without an id are Goose's own notices; a streamed answer comes in pieces with the same one."""
    if event.get("type") != "message":
        yield str(event.get("type")), event
        return
    message = as_dict(event.get("message"))
    own, answer = message.get("id") is None, message.get("role") == "assistant"
    for part in map(as_dict, as_list(message.get("content"))):
        kind = str(part.get("type"))
        if kind == "text" and own:
            kind = "failure" if str(part.get("text")).startswith(_FAILED) else "notice"
        yield f"message {kind}", {**part, "message": message.get("id"), "input": not answer}


def _is_failed(part: Event) -> bool:
    result = as_dict(part.get("toolResult"))
    return result.get("status") != "success" or as_dict(result.get("value")).get("isError") is True


def _credits_message(part: Event) -> str | None:
    spent = part.get("notificationType") == "creditsExhausted"
    return str(part.get("msg") or "the provider's credits are spent") if spent else None


_EVENTS = EventTable(
    unpack=_unpack,
    rows={
        "message text": EventRow(unless="input", piece="text", message="message", notes={"own": lambda _: ""}),
        "message notice": EventRow(unless="input", text="text", notes={"own": "text"}),
        "message failure": EventRow(unless="input", notice="text", notes={"own": "text"}),
        "message toolRequest": EventRow(call="toolCall.value.name", inputs="toolCall.value.arguments"),
        "message toolResponse": EventRow(result="toolResult.value.content|toolResult.error", failed=_is_failed),
        "message systemNotification": EventRow(unless="input", notice="msg", notes={"spent": _credits_message}),
        "complete": EventRow(end=True),
    },
)


def _notice(summary: StreamSummary) -> str:
    """What Goose itself said last; a provider that gives its messages no id counts tokens all the same."""
    own = str(summary.notes.get("own", ""))
    known = own.startswith(_FAILED) or find_kind(own, _NOTICES)
    return own if known or as_dict(summary.end).get("total_tokens") is None else ""


class Goose(StreamDialect):
    """Version 1.34 and later."""

    name = "goose"
    events = _EVENTS
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
        argv += asked.options(max_turns="--max-turns")
        # It would sleep for as long as a provider says, in silence; without pauses it gives up and the wait is flyball's.
        return Invocation(argv=(*argv, *asked.args), env={"GOOSE_MODE": "auto", "GOOSE_PROVIDER_SKIP_BACKOFF": "true"})

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        used = count_usage(summary.end)
        begun = any(True for _ in heard.lines)
        return summary.reading(
            _ending(summary, heard),
            used if used.tokens else None,
            cumulative=True,
            session=_session(heard.asked) if begun else "",
            message="" if _notice(summary) else None,
        )


GOOSE = Goose()


def _session(asked: TurnRequest) -> str:
    """Goose never says which conversation it is in, so that flyball names it."""
    return asked.session or f"flyball-{uuid.uuid5(uuid.NAMESPACE_URL, f'{asked.folder}#{asked.nonce}')}"


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    if summary.end is None:
        approval = _APPROVAL.search(heard.stderr_text)
        if approval:
            return "denied", f"denied: {approval[0]}", None
        if GONE in heard.stderr_text:
            return end_lost(heard)
        return find_line(heard.other, _NOT_SET_UP) or ("crashed", NO_END, None)
    if summary.notes.get("spent"):
        return "usage_limit", summary.notes["spent"], None
    notice = _notice(summary)
    if not notice:
        return "ok", "", None
    said = notice.partition("\n\n")[0].removeprefix(f"{_FAILED}: ")
    return end_failed(ProviderFailure(said=said, known=find_kind(notice, _NOTICES)), heard, NO_END)


def _setting(path: Path, name: str) -> str:
    try:
        return str(as_dict(yaml.safe_load(path.read_bytes())).get(name) or "")
    except (OSError, ValueError, yaml.YAMLError):
        return ""
