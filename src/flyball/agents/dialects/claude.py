"""Claude Code: how `claude -p` is asked, and what its stream of events means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest, ended_well
from flyball.agents.display.display import Shown, message_parts, message_shown, noticed
from flyball.agents.display.tool_calls import call_line, question
from flyball.agents.reading.loose_json import as_count, as_dict, as_list, as_moment, as_money, object_in
from flyball.agents.run.homes import below
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_RESULT = "Claude Code ended without a result"
GONE = "No conversation found with session ID"
ASK = "AskUserQuestion"
_SYNTHETIC = "<synthetic>"
"""The model of messages that no model wrote: errors, for example."""
_OBEYED = (
    "settings.json",
    "settings.local.json",
    "CLAUDE.md",
    "agents",
    "commands",
    "skills",
    "hooks",
    "output-styles",
)
_GUARDS = {
    True: ("--permission-mode", "bypassPermissions"),
    False: ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "WebFetch", "WebSearch"),
}
"""By whether flyball's sandbox holds it."""
_ENVIRONMENT = {"DISABLE_AUTOUPDATER": "1"}
_SANDBOXED = {**_ENVIRONMENT, "IS_SANDBOX": "1"}
_EDITS = ("Edit", "Write", "NotebookEdit")
_ENDED: dict[str, TurnKind] = {
    "error_max_turns": "max_turns",
    "max_turns": "max_turns",
    "error_max_budget_usd": "budget",
    "budget_exhausted": "budget",
    "prompt_too_long": "context_full",
    "blocking_limit": "context_full",
    "rapid_refill_breaker": "context_full",
    "aborted_streaming": "killed",
    "aborted_tools": "killed",
}
_ERRORS: dict[str, TurnKind] = {
    **dict.fromkeys(("authentication_failed", "oauth_org_not_allowed", "account_on_hold"), "not_logged_in"),
    **dict.fromkeys(("verification_required", "cloud_credential_error"), "not_logged_in"),
    "billing_error": "usage_limit",
    **dict.fromkeys(("overloaded", "server_error"), "overloaded"),
}
_TIMED_OUT = ("request timed out", "connection error", "unable to connect")


class _Story:
    """What the events of one run add up to."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.session, self.text, self.error, self.model = "", "", "", ""
        self.result: Event | None = None
        self.limit: Event = {}
        self.question: Event = {}
        self._usages: dict[str, Event] = {}
        for event in lines:
            self.session = str(event.get("session_id") or self.session)
            match event.get("type"):
                case "result":
                    self.result = event
                case "system" if event.get("subtype") == "init":
                    self.model = str(event.get("model") or "")
                case "rate_limit_event":
                    self.limit = as_dict(event.get("rate_limit_info"))
                case "assistant":
                    self._assistant(event)

    def _assistant(self, event: Event) -> None:
        message = as_dict(event.get("message"))
        self.error = str(event.get("error") or "")
        if event.get("parent_tool_use_id"):
            return
        named = str(message.get("model") or "")
        self.model = self.model if named in ("", _SYNTHETIC) else named
        if message.get("id"):
            self._usages[str(message["id"])] = as_dict(message.get("usage"))
        for part in message_parts(event):
            if part.get("type") == "text" and part.get("text"):
                self.text = str(part["text"])
            elif part.get("type") == "tool_use" and part.get("name") == ASK:
                self.question = as_dict(part.get("input"))

    @property
    def seen_usage(self) -> Usage:
        """What the messages of a run without a result add up to."""
        if not self._usages:
            return Usage(estimated=True)
        told = self._usages.values()
        return Usage(sum(map(_read_tokens, told)), sum(as_count(u.get("output_tokens")) for u in told), estimated=True)


class Claude:
    """Version 2.1 and later."""

    name = "claude"
    program = "claude"
    version_argv = ("claude", "--version")
    tells_money = True
    install = "npm install --global @anthropic-ai/claude-code"
    login = "claude /login (or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN)"
    variables = (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"),
        *("ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION"),
        *(f"ANTHROPIC_DEFAULT_{tier}_MODEL" for tier in ("OPUS", "SONNET", "HAIKU")),
        *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
        *("CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        *("MAX_THINKING_TOKENS", "API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "AWS_REGION"),
    )
    homes = ("$CLAUDE_CONFIG_DIR", ".claude")
    guarded = (".claude.json", *below(homes, *_OBEYED))

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if any(environment.get(name) for name in ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")):
            return None
        if any(
            environment.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
        ):
            return True
        folder = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        if (folder / ".credentials.json").is_file():
            return True
        settings = (folder / "settings.json", home / ".claude.json")
        named = [object_in(path).get(name) for path in settings for name in ("apiKeyHelper", "primaryApiKey")]
        return None if any(named) else False

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Permissions are left to flyball's sandbox; without it files outside the tree stay out of its tools' reach."""
        argv = ["claude", "-p", "--output-format", "stream-json", "--verbose"]
        argv += asked.unless_told(_GUARDS[asked.sandboxed], "--permission-mode", "--dangerously-skip-permissions")
        argv += ["--add-dir", str(asked.folder)]
        argv += ["--model", asked.model] if asked.model else []
        argv += ["--resume", asked.session] if asked.session else []
        argv += ["--max-turns", str(asked.max_turns)] if asked.max_turns else []
        argv += ["--max-budget-usd", f"{asked.budget_usd:g}"] if asked.budget_usd else []
        argv += ["--disallowedTools", *_EDITS] if asked.access == "read" else []
        return Invocation(argv=(*argv, *asked.args), env=_SANDBOXED if asked.sandboxed else _ENVIRONMENT)

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        if story.result is None:
            return TurnReading(
                kind="crashed",
                detail=NO_RESULT,
                final_message=story.text,
                usage=story.seen_usage,
                session=story.session,
                model=story.model,
            )
        kind, detail, reset_at = _outcome(story, story.result, heard.now)
        asks, options = question(story.question) if kind == "question" else ("", ())
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=str(story.result.get("result") or story.text),
            usage=_total(story.result),
            cumulative=True,
            session=story.session,
            reset_at=reset_at,
            question=asks,
            options=options,
            model=story.model,
        )

    def show(self, event: Event) -> list[Shown]:
        if event.get("type") == "system" and event.get("subtype") == "api_retry":
            delay = as_count(event.get("retry_delay_ms")) / 1000
            return noticed(f"{event.get('error')} ({event.get('error_status')}): trying again in {delay:.0f} s")
        return message_shown(event)


CLAUDE = Claude()


def _outcome(story: _Story, result: Event, now: datetime) -> HowEnded:
    """API failures keep the subtype "success": `is_error` is what counts."""
    said = str(result.get("result") or "") or "; ".join(map(str, as_list(result.get("errors"))))
    ended = _ENDED.get(str(result.get("subtype"))) or _ENDED.get(str(result.get("terminal_reason")))
    if ended:
        return ended, said or str(result.get("subtype")), None
    if GONE in said:
        return "context_full", said, None
    if result.get("is_error") or result.get("subtype") != "success":
        return _failure(story, result, said, now)
    denied = [as_dict(one) for one in as_list(result.get("permission_denials"))]
    refused = [
        call_line(one.get("tool_name"), as_dict(one.get("tool_input"))) for one in denied if one.get("tool_name") != ASK
    ]
    return ended_well(story.question, refused)


def _failure(story: _Story, result: Event, said: str, now: datetime) -> HowEnded:
    limited = result.get("api_error") == "usage_limit_reached" or story.limit.get("status") == "rejected"
    if limited and result.get("api_error_status") == 429:
        return "usage_limit", said, as_moment(story.limit.get("resetsAt"))
    known = _ERRORS.get(story.error)
    if known:
        return known, said, None
    status = result.get("api_error_status")
    found = recognise_error(
        {"message": said, "status": str(status or ""), "type": result.get("api_error_type")}, now, zones
    )
    if found is not None:
        return found.kind, found.detail, found.reset_at
    if (isinstance(status, int) and status >= 500) or any(text in said.lower() for text in _TIMED_OUT):
        return "overloaded", said, None
    return "crashed", said or f"{result.get('subtype')} {result.get('terminal_reason') or ''}".strip(), None


def _total(result: Event) -> Usage:
    """What the conversation has used: `usage` is the main loop's alone, `modelUsage` has its subagents, too."""
    models = [as_dict(one) for one in as_dict(result.get("modelUsage")).values()]
    read = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return Usage(
        sum(as_count(model.get(name)) for model in models for name in read),
        sum(as_count(model.get("outputTokens")) for model in models),
        as_money(result.get("total_cost_usd")),
    )


def _read_tokens(usage: Event) -> int:
    return sum(
        as_count(usage.get(name)) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
