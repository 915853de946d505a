"""Claude Code: how `claude -p` is asked, and what its stream of events means."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, end_failed, end_well
from flyball.agents.dialects.event_table import (
    MESSAGE_ROWS,
    EventRow,
    EventTable,
    StreamDialect,
    StreamSummary,
    count_usage,
    denied_calls,
    look_up,
    unpack_messages,
)
from flyball.agents.reading.loose_json import as_count, as_dict, as_list, as_moment, as_money, object_in
from flyball.agents.run.homes import below
from flyball.core.model.outcomes import TurnKind, Usage

NO_RESULT = "Claude Code ended without a result"
GONE = "No conversation found with session ID"
ASK = "AskUserQuestion"
_GUARDS = {
    True: ("--permission-mode", "bypassPermissions"),
    False: ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "WebFetch", "WebSearch"),
}
"""By whether flyball's sandbox holds it."""
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


def _message_model(event: Event) -> str:
    """Messages that no model wrote, errors for example, name a model of their own."""
    named = str(look_up(event, "message.model") or "")
    return "" if named == "<synthetic>" else named


def _message_usage(event: Event) -> Usage:
    read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return count_usage(look_up(event, "message.usage"), read=read)


def _retry_line(event: Event) -> str:
    delay = as_count(event.get("retry_delay_ms")) / 1000
    return f"{event.get('error')} ({event.get('error_status')}): trying again in {delay:.0f} s"


_EVENTS = EventTable(
    asking=ASK,
    session="session_id",
    unpack=unpack_messages,
    rows={
        **MESSAGE_ROWS,
        "system init": EventRow(model="model"),
        "system api_retry": EventRow(notice=_retry_line),
        "rate_limit_event": EventRow(notes={"limit": lambda event: as_dict(event.get("rate_limit_info"))}),
        "assistant": EventRow(
            unless="parent_tool_use_id",
            model=_message_model,
            message="message.id",
            usage=_message_usage,
            notes={"error": lambda event: str(event.get("error") or "")},
        ),
        "result": EventRow(end=True),
    },
)


class Claude(StreamDialect):
    """Version 2.1 and later."""

    name = "claude"
    events = _EVENTS
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
    guarded = (
        ".claude.json",
        *below(
            homes,
            *("settings.json", "settings.local.json", "CLAUDE.md"),
            *("agents", "commands", "skills", "hooks", "output-styles"),
        ),
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if any(map(environment.get, ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"))):
            return None
        if any(map(environment.get, ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"))):
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
        argv += asked.add_unless_given(_GUARDS[asked.sandboxed], "--permission-mode", "--dangerously-skip-permissions")
        argv += ["--add-dir", str(asked.folder), *asked.options(session="--resume", max_turns="--max-turns")]
        argv += ["--max-budget-usd", f"{asked.budget_usd:g}"] if asked.budget_usd else []
        argv += ["--disallowedTools", "Edit", "Write", "NotebookEdit"] if asked.access == "read" else []
        env = {"DISABLE_AUTOUPDATER": "1"} | ({"IS_SANDBOX": "1"} if asked.sandboxed else {})
        return Invocation(argv=(*argv, *asked.args), env=env)

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _EVENTS.read(heard.lines)
        if summary.end is None:
            seen = msgspec.structs.replace(summary.usage or Usage(), estimated=True)
            return summary.reading(("crashed", NO_RESULT, None), seen)
        return summary.reading(
            _ending(summary, summary.end, heard),
            # What the conversation has used: `usage` is the main loop's alone, `modelUsage` has its subagents, too.
            count_usage(
                *as_dict(summary.end.get("modelUsage")).values(),
                read=("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
                written=("outputTokens",),
                usd=as_money(summary.end.get("total_cost_usd")),
            ),
            cumulative=True,
            message=str(summary.end.get("result") or summary.text),
        )


CLAUDE = Claude()


def _ending(summary: StreamSummary, result: Event, heard: ProgramOutput) -> HowEnded:
    """API failures keep the subtype "success": `is_error` is what counts."""
    said = str(result.get("result") or "") or "; ".join(map(str, as_list(result.get("errors"))))
    ended = _ENDED.get(str(result.get("subtype"))) or _ENDED.get(str(result.get("terminal_reason")))
    if ended:
        return ended, said or str(result.get("subtype")), None
    if GONE in said:
        return "context_full", said, None
    if result.get("is_error") or result.get("subtype") != "success":
        status, limit = as_count(result.get("api_error_status")), summary.notes.get("limit", {})
        limited = result.get("api_error") == "usage_limit_reached" or limit.get("status") == "rejected"
        if limited and status == 429:
            return "usage_limit", said, as_moment(limit.get("resetsAt"))
        failure = ProviderFailure(
            said=said,
            known=_ERRORS.get(summary.notes.get("error", "")),
            status=status,
            told={"type": result.get("api_error_type")},
        )
        return end_failed(failure, heard, f"{result.get('subtype')} {result.get('terminal_reason') or ''}".strip())
    return end_well(summary.question, denied_calls(result, ASK))
