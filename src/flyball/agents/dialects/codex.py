"""Codex: how `codex exec` is asked, and what its stream of events means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, end_lost, end_well, find_kind
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, count_usage, equals
from flyball.agents.display.display import first_line
from flyball.agents.reading.loose_json import as_dict, as_list, as_moment, as_object, object_in
from flyball.agents.run.homes import below

NO_END = "Codex ended without completing its turn"
BYPASS = "--dangerously-bypass-approvals-and-sandbox"
UNGUARDED = f'Codex cannot start its own sandbox here; to do without any, set args = ["{BYPASS}"] for it'
GONE = "no rollout found"
_DENIED = re.compile(r"codex_core::tools::router: error=.*?(?P<what>patch rejected: .*|`.+?` rejected: .*)")
_FAILURES: Words = (
    ("context_full", re.compile(r"ran out of room in the model's context window", re.IGNORECASE)),
    ("overloaded", re.compile(r"high demand|unexpected status 5\d\d|stream disconnected|error sending request")),
)
_RETRYING = r'^\{"type":"error","message":"Reconnecting\.\.\. '
_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _unpack(event: Event) -> Iterator[tuple[str, Event]]:
    kind, item = event.get("type"), as_dict(event.get("item"))
    yield (f"{kind} {item.get('type')}", item) if item else (str(kind), event)


def _unwrap(error: Any) -> str:
    """What an error says; a refused request is told as the provider's whole answer."""
    message = str(as_dict(error).get("message") or "")
    return str(as_dict(as_object(message).get("error")).get("message") or message)


def _find_no_guard(item: Event) -> str | None:
    output = str(item.get("aggregated_output"))
    return first_line(output) if output.startswith("bwrap: ") else None


def _list_changes(item: Event) -> str:
    changes = map(as_dict, as_list(item.get("changes")))
    return ", ".join(f"{change.get('kind')} {change.get('path')}" for change in changes)


_TOOL = EventRow(
    call=lambda item: item.get("tool") or "web search", inputs=lambda item: {**item, **as_dict(item.get("arguments"))}
)
_EVENTS = EventTable(
    unpack=_unpack,
    rows={
        "thread.started": EventRow(session="thread_id"),
        "error": EventRow(notice=_unwrap),
        "turn.completed": EventRow(end=True),
        "turn.failed": EventRow(end=True, notice=lambda event: _unwrap(event.get("error"))),
        "item.started command_execution": EventRow(call=lambda _: "$", inputs=lambda item: item),
        "item.started mcp_tool_call": _TOOL,
        "item.started web_search": _TOOL,
        "item.completed agent_message": EventRow(text="text"),
        "item.completed error": EventRow(notice="message"),
        "item.completed file_change": EventRow(call=_list_changes),
        "item.completed command_execution": EventRow(
            result="aggregated_output", failed=equals("status", "failed"), notes={"no_guard": _find_no_guard}
        ),
        "item.completed mcp_tool_call": EventRow(
            result="error.message|result.content", failed=equals("status", "failed")
        ),
    },
)
"""An `error` is not fatal, only a failed turn is."""


class Codex(StreamDialect):
    """Version 0.160 and later; it keeps no limit of its own on turns or money."""

    name = "codex"
    events = _EVENTS
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
        access = "read-only" if asked.access == "read" else "workspace-write"
        guard = (BYPASS,) if asked.sandboxed else ("--sandbox", access, "--add-dir", str(asked.folder))
        argv = ["codex", "exec", "--json", "--skip-git-repo-check"]
        argv += asked.add_unless_given(guard, BYPASS, "--sandbox", "-s")
        argv += ["-c", "features.unbounded_connection_retries=false", *asked.options(), *asked.args]
        argv += ["resume", asked.session] if asked.session else []
        return Invocation(argv=(*argv, "-"), retrying=_RETRYING)

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        record = _Rollout.find(heard.homes, summary.session)
        summary.model = record.model
        # Input includes what was read from the cache, output what was spent on reasoning.
        totals = map(count_usage, (as_dict(summary.end).get("usage"), record.total))
        total = next((usage for usage in totals if usage.tokens), None)
        return summary.reading(_ending(summary, record, heard), total, cumulative=True)


CODEX = Codex()


class _Rollout:
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
    def find(cls, homes: Iterable[Path], thread: str) -> _Rollout:
        folders = [home / "sessions" for home in homes] if _THREAD.fullmatch(thread) else []
        found = [path for folder in folders for path in folder.glob(f"*/*/*/rollout-*-{thread}.jsonl")]
        return cls(told for path in found[:1] for told in _read_rollout(path))

    @property
    def reset_at(self) -> datetime | None:
        """When the last of the spent windows begins anew."""
        ends = []
        for window in self.windows:
            used, end = window.get("used_percent"), as_moment(window.get("resets_at"))
            if isinstance(used, int | float) and used >= 100 and end:
                ends.append(end)
        return max(ends, default=None)


def _ending(summary: StreamSummary, record: _Rollout, heard: ProgramOutput) -> HowEnded:
    end, no_guard = summary.end or {}, summary.notes.get("no_guard")
    if end.get("type") == "turn.completed" and no_guard and not heard.asked.sandboxed:
        return "denied", f"{no_guard}: {UNGUARDED}", None
    if end.get("type") == "turn.completed":
        denied = [found["what"].rstrip('") }') for found in _DENIED.finditer(heard.stderr_text)]
        return end_well({}, tuple(dict.fromkeys(denied)))
    if not end and GONE in heard.stderr_text:
        return end_lost(heard)
    said = _unwrap(end.get("error")) or NO_END
    kind, detail, reset_at = end_failed(ProviderFailure(said=said, known=find_kind(said, _FAILURES)), heard, NO_END)
    # The words give local time to the minute; the record has it to the second.
    told = record.reset_at if kind == "usage_limit" else None
    return kind, detail, told if told and told > heard.now else reset_at


def _read_rollout(path: Path) -> Iterable[Event]:
    try:
        with path.open("rb") as file:
            for line in file:
                record = as_object(line) if b'"token_count"' in line or b'"turn_context"' in line else {}
                payload = as_dict(record.get("payload"))
                if record.get("type") == "turn_context" or payload.get("type") == "token_count":
                    yield payload
    except OSError:
        return
