"""aider: how it is asked, and what its log of events and its text mean; it ends with status 0 whatever its provider answers."""

import re
from collections.abc import Mapping
from pathlib import Path

from flyball.agents.dialect import PROMPT_FILE, Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.dialects.endings import ProviderFailure, Words, end_failed, find_line
from flyball.agents.dialects.event_table import EventRow, EventTable, StreamDialect, StreamSummary, count_usage, equals
from flyball.agents.reading.loose_json import as_count, as_dict, as_money, as_object
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.text.scrubbing import decode

LOG, HISTORY, CHAT, INPUT = "events.jsonl", "model.md", "chat.md", "input"
NO_END = "aider ended without finishing its message"
NO_ANSWER = "the model gave no answer"
_ANSWERED = re.compile(r"^LLM RESPONSE \S+\n((?:ASSISTANT ?.*\n?)*)", re.MULTILINE)
_ERROR = re.compile(r"litellm\.(?:exceptions\.)?(?P<name>\w+)(?::|\b)")
_RETRY = re.compile(r"Retrying in [\d.]+ seconds")
_TOKEN_LIMIT: Words = (("context_full", re.compile(r"has hit a token limit!")),)
_STOPPED: Words = (("max_turns", re.compile(r"^\s*Only \d+ reflections allowed, stopping\.\s*$")),)
_NO_KEY: Words = (
    (
        "not_logged_in",
        re.compile(r"No LLM model was specified and no API keys were provided|API keys? (?:\w+ )?not (?:set|found)"),
    ),
)
_KINDS: dict[str, TurnKind] = {
    "AuthenticationError": "not_logged_in",
    "ContextWindowExceededError": "context_full",
    **dict.fromkeys(("InternalServerError", "ServiceUnavailableError", "BadGatewayError"), "overloaded"),
    **dict.fromkeys(("APIConnectionError", "Timeout"), "overloaded"),
}
_LAST_LINES = 12
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    # Where git knows nobody's name, aider writes one into the repository's settings, which are read-only.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "aider",
    "GIT_CONFIG_KEY_1": "user.email",
    "GIT_CONFIG_VALUE_1": "aider@localhost",
}
_PROVIDERS = ("OPENAI", "ANTHROPIC", "GEMINI", "DEEPSEEK", "OPENROUTER", "GROQ", "MISTRAL", "XAI", "AZURE")


def _known_model(sent: Event) -> str:
    """The model that answered; aider does not write down one whose price it does not know."""
    named = str(sent.get("main_model") or "")
    return "" if "REDACTED" in named else named


def _sending_usage(sent: Event) -> Usage:
    cost = as_money(sent.get("cost"))
    return count_usage(sent, read=("prompt_tokens",), written=("completion_tokens",), usd=cost)


_LOGGED = EventTable(
    unpack=lambda event: [(str(event.get("event")), as_dict(event.get("properties")))],
    rows={
        "message_send_starting": EventRow(notes={"begun": lambda _: True, "unanswered": lambda _: True}),
        "message_send": EventRow(
            model=_known_model,
            usage=_sending_usage,
            notes={"unanswered": lambda _: False, "written": lambda sent: as_count(sent.get("completion_tokens"))},
        ),
        "exit": EventRow(notes={"completed": equals("reason", "Completed --message-file")}),
    },
)
"""Aider's own log of events: each sending to the model, and how the run ended."""


class Aider(StreamDialect):
    """Version 0.86; every turn is a conversation of its own, and the files it gets are those the prompt or the model names."""

    name = "aider"
    events = EventTable(rows={})
    """It prints text, which is shown as it is."""
    tells_money = True
    install = "pipx install aider-chat"
    login = "the key of your model's provider in its variable, such as OPENAI_API_KEY"
    variables = (
        *(f"{provider}_API_KEY" for provider in _PROVIDERS),
        *("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "AZURE_API_BASE", "AZURE_API_VERSION"),
        *("OLLAMA_API_BASE", "LM_STUDIO_API_BASE", "VERTEXAI_PROJECT", "VERTEXAI_LOCATION", "AWS_REGION"),
        *("AIDER_MODEL", "AIDER_WEAK_MODEL", "AIDER_EDITOR_MODEL", "AIDER_EDIT_FORMAT", "AIDER_REASONING_EFFORT"),
    )
    homes = (".aider",)
    guarded = (".aider/oauth-keys.env",)

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        """Keys may also stand in a repository's .env, and local models need none."""
        if any(environment.get(f"{provider}_API_KEY") for provider in _PROVIDERS):
            return True
        return True if (home / ".aider" / "oauth-keys.env").is_file() else None

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Commits are flyball's; shell commands of the model's are never run; histories go where the tree is not."""
        argv = ["aider", "--message-file", str(asked.folder / PROMPT_FILE), "--yes-always"]
        argv += ["--no-auto-commits", "--no-dirty-commits", "--no-gitignore"]
        argv += ["--no-suggest-shell-commands", "--no-detect-urls"]
        argv += ["--no-pretty", "--no-stream", "--no-fancy-input", "--no-check-update", "--no-show-release-notes"]
        argv += ["--no-show-model-warnings", "--no-analytics", "--analytics-log", str(asked.folder / LOG)]
        argv += ["--llm-history-file", str(asked.folder / HISTORY), "--chat-history-file", str(asked.folder / CHAT)]
        argv += ["--input-history-file", str(asked.folder / INPUT)]
        argv += [*(["--dry-run"] if asked.access == "read" else []), *asked.options(), *asked.args]
        return Invocation(argv=tuple(argv), env=_ENVIRONMENT, prompt_on_stdin=False, left=(LOG, HISTORY))

    def read(self, heard: ProgramOutput) -> TurnReading:
        summary = _LOGGED.read(map(as_object, heard.files.get(LOG, b"").splitlines()))
        message = _final_message(heard.files.get(HISTORY, b""))
        return summary.reading(_ending(summary, heard), summary.usage, message=message)


AIDER = Aider()


def _ending(summary: StreamSummary, heard: ProgramOutput) -> HowEnded:
    """Only aider's own words at the very end are read, and only where its log says that the model did not answer."""
    last, notes = heard.other[-_LAST_LINES:], summary.notes
    if "begun" not in notes:
        return find_line(heard.other, _NO_KEY) or ("crashed", last[-1].strip() if last else NO_END, None)
    if notes.get("unanswered"):
        starts = [at for at, line in enumerate(last) if _ERROR.match(line.strip())]
        said = " ".join(line.strip() for line in last[starts[-1] :] if not _RETRY.search(line)) if starts else ""
        found = _ERROR.match(said)
        known = _KINDS.get(found["name"]) if found else None
        if known is None and "insufficient credits" in said.lower():
            known = "usage_limit"
        return end_failed(ProviderFailure(said=said, known=known), heard, NO_ANSWER)
    full = find_line(heard.other, _TOKEN_LIMIT) if notes.get("written") == 0 else None
    if full or not notes.get("completed"):
        return full or ("crashed", NO_END, None)
    return find_line(last[-3:], _STOPPED) or ("ok", "", None)


def _final_message(history: bytes) -> str:
    """The model's last answer, each line of which stands behind a word of aider's."""
    answers = _ANSWERED.findall(decode(history))
    if not answers:
        return ""
    return "\n".join(line.removeprefix("ASSISTANT").removeprefix(" ") for line in answers[-1].splitlines())
