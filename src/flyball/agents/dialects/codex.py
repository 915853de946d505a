"""Codex: how `codex exec` is asked, and what its stream of events means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, answered, called, noticed, said
from flyball.agents.display.tool_calls import first_line
from flyball.agents.reading.loose_json import as_count, as_dict, as_list, as_moment, as_object, object_in
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_END = "Codex ended without completing its turn"
BYPASS = "--dangerously-bypass-approvals-and-sandbox"
UNGUARDED = f'Codex cannot start its own sandbox here; to do without any, set args = ["{BYPASS}"] for it'
_NO_GUARD = "bwrap: "
GONE = "no rollout found"
_DENIED = re.compile(r"codex_core::tools::router: error=.*?(?P<what>patch rejected: .*|`.+?` rejected: .*)")
_WORDS: tuple[tuple[TurnKind, re.Pattern[str]], ...] = (
    ("context_full", re.compile(r"ran out of room in the model's context window", re.IGNORECASE)),
    ("overloaded", re.compile(r"high demand|unexpected status 5\d\d|stream disconnected|error sending request")),
)
_RETRYING = r'^\{"type":"error","message":"Reconnecting\.\.\. '
_SPENT = 100.0
_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class _Story:
    """What the events of one run add up to: an `error` is not fatal, only a failed turn is."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.thread, self.text = "", ""
        self.end: Event = {}
        self.unguarded = ""
        for event in lines:
            match event.get("type"):
                case "thread.started":
                    self.thread = str(event.get("thread_id") or "")
                case "turn.completed" | "turn.failed":
                    self.end = event
                case "item.completed":
                    item = as_dict(event.get("item"))
                    if item.get("type") == "agent_message":
                        self.text = str(item.get("text") or "")
                    elif str(item.get("aggregated_output")).startswith(_NO_GUARD):
                        self.unguarded = first_line(item.get("aggregated_output"))

    @property
    def failure(self) -> str | None:
        """Why the turn failed; None if it was completed."""
        if self.end.get("type") == "turn.completed":
            return None
        return _unwrapped(str(as_dict(self.end.get("error")).get("message") or NO_END))


class Codex:
    """Version 0.160 and later; it keeps no limit of its own on turns or money."""

    name = "codex"
    program = "codex"
    version_argv = ("codex", "--version")
    tells_money = False
    install = "npm install --global @openai/codex"
    login = "codex login (or set CODEX_API_KEY)"
    variables = ("CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "RUST_LOG")
    homes = ("$CODEX_HOME", ".codex")
    guarded = below(homes, "config.toml", "hooks.json", "AGENTS.md", "AGENTS.override.md", "agents", "prompts", "rules")

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if environment.get("CODEX_API_KEY"):
            return True
        folder = Path(environment.get("CODEX_HOME") or home / ".codex")
        try:
            settings = tomllib.loads((folder / "config.toml").read_text("utf-8"))
        except (OSError, ValueError):
            settings = {}
        provider = as_dict(as_dict(settings.get("model_providers")).get(settings.get("model_provider", "")))
        if provider and not provider.get("requires_openai_auth"):
            key = provider.get("env_key")
            return bool(environment.get(str(key))) if key else True
        stored = object_in(folder / "auth.json")
        if stored.get("tokens") or stored.get("OPENAI_API_KEY"):
            return True
        return None if settings.get("cli_auth_credentials_store") in ("keyring", "auto") else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Its own sandbox would nest in flyball's, where it cannot start; and its own patience would hide an outage."""
        argv = ["codex", "exec", "--json", "--skip-git-repo-check"]
        argv += asked.unless_told(_guard(asked), BYPASS, "--sandbox", "-s")
        argv += ["-c", "features.unbounded_connection_retries=false"]
        argv += ["--model", asked.model] if asked.model else []
        argv += asked.args
        argv += ["resume", asked.session] if asked.session else []
        return Invocation(argv=(*argv, "-"), retrying=_RETRYING)

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        record = _Record.of(heard.homes, story.thread)
        kind, detail, reset_at = _outcome(story, record, heard)
        total = _usage(story.end.get("usage")) or _usage(record.total)
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=story.text,
            usage=total or Usage(estimated=True),
            cumulative=total is not None,
            session=story.thread,
            reset_at=reset_at,
            model=record.model,
        )

    def show(self, event: Event) -> list[Shown]:
        match event.get("type"):
            case "error" | "turn.failed":
                told = event.get("message") or as_dict(event.get("error")).get("message")
                return noticed(_unwrapped(str(told or "")))
            case "item.started":
                return _begun(as_dict(event.get("item")))
            case "item.completed":
                return _done(as_dict(event.get("item")))
        return []


CODEX = Codex()


class _Record:
    """What Codex's own record of a thread tells beyond its events: the model, a failed turn's tokens, the end of limits."""

    def __init__(self, told: Iterable[Event]) -> None:
        self.model = ""
        self.total: Event = {}
        self.windows: list[Event] = []
        for count in told:
            self.model = str(count.get("model") or self.model)
            self.total = as_dict(as_dict(count.get("info")).get("total_token_usage")) or self.total
            limits = as_dict(count.get("rate_limits"))
            self.windows = [as_dict(limits.get(name)) for name in ("primary", "secondary")] if limits else self.windows

    @classmethod
    def of(cls, homes: Iterable[Path], thread: str) -> _Record:
        folders = [home / "sessions" for home in homes] if _THREAD.fullmatch(thread) else []
        found = [path for folder in folders for path in folder.glob(f"*/*/*/rollout-*-{thread}.jsonl")]
        return cls(told for path in found[:1] for told in _told(path))

    @property
    def reset_at(self) -> datetime | None:
        """When the last of the spent windows begins anew."""
        spent = [
            w for w in self.windows if isinstance(w.get("used_percent"), int | float) and w["used_percent"] >= _SPENT
        ]
        ends = [end for window in spent if (end := as_moment(window.get("resets_at")))]
        return max(ends, default=None)


def _outcome(story: _Story, record: _Record, heard: ProgramOutput) -> HowEnded:
    failure = story.failure
    if failure is None and story.unguarded and not heard.asked.sandboxed:
        return "denied", f"{story.unguarded}: {UNGUARDED}", None
    if failure is None:
        denied = [found["what"].rstrip('") }') for found in _DENIED.finditer(heard.stderr_text)]
        return ended_well({}, tuple(dict.fromkeys(denied)))
    if not story.end and GONE in heard.stderr_text:
        return "context_full", f"the conversation {heard.asked.session} is gone", None
    known = next((kind for kind, words in _WORDS if words.search(failure)), None)
    if known:
        return known, failure, None
    limit = recognise_error({"message": failure}, heard.now, zones)
    if limit is None:
        return "crashed", failure, None
    # The words give local time to the minute; the record has it to the second.
    told = record.reset_at if limit.kind == "usage_limit" else None
    return limit.kind, limit.detail, told if told and told > heard.now else limit.reset_at


def _guard(asked: TurnRequest) -> tuple[str, ...]:
    if asked.sandboxed:
        return (BYPASS,)
    return ("--sandbox", "read-only" if asked.access == "read" else "workspace-write", "--add-dir", str(asked.folder))


def _unwrapped(message: str) -> str:
    """A refused request is told as the provider's whole answer."""
    return str(as_dict(as_object(message).get("error")).get("message") or message)


def _usage(told: Any) -> Usage | None:
    """Input includes what was read from the cache, output what was spent on reasoning."""
    counts = as_dict(told)
    read, written = as_count(counts.get("input_tokens")), as_count(counts.get("output_tokens"))
    return Usage(read, written) if read or written else None


def _begun(item: Event) -> list[Shown]:
    match item.get("type"):
        case "command_execution":
            return called("$", item)
        case "mcp_tool_call" | "web_search":
            return called(item.get("tool") or "web search", {**item, **as_dict(item.get("arguments"))})
    return []


def _done(item: Event) -> list[Shown]:
    failed = item.get("status") == "failed"
    match item.get("type"):
        case "agent_message":
            return said(item.get("text"))
        case "error":
            return noticed(item.get("message"))
        case "file_change":
            changes = [as_dict(change) for change in as_list(item.get("changes"))]
            return [Shown("call", ", ".join(f"{change.get('kind')} {change.get('path')}" for change in changes))]
        case "command_execution":
            return answered(item.get("aggregated_output"), failed=failed)
        case "mcp_tool_call":
            told = as_dict(item.get("error")).get("message") or as_dict(item.get("result")).get("content")
            return answered(told, failed=failed)
    return []


def _told(path: Path) -> Iterable[Event]:
    """What the record says of tokens and of what each turn ran with."""
    try:
        with path.open("rb") as file:
            for line in file:
                record = as_object(line) if b'"token_count"' in line or b'"turn_context"' in line else {}
                payload = as_dict(record.get("payload"))
                if record.get("type") == "turn_context" or payload.get("type") == "token_count":
                    yield payload
    except OSError:
        return
