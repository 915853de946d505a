"""aider: how it is asked, and what its log of events and its text mean; it ends with status 0 whatever its provider answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.display.display import Shown
from flyball.agents.reading.loose_json import as_count, as_dict, as_money, as_object
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import TurnKind, Usage
from flyball.core.providers.limits import recognise_error
from flyball.core.text.scrubbing import decode

LOG, HISTORY, CHAT, INPUT = "events.jsonl", "model.md", "chat.md", "input"
NO_END = "aider ended without finishing its message"
NO_ANSWER = "the model gave no answer"
_COMPLETED = "Completed --message-file"
_ANSWERED = re.compile(r"^LLM RESPONSE \S+\n((?:ASSISTANT ?.*\n?)*)", re.MULTILINE)
_ERROR = re.compile(r"litellm\.(?:exceptions\.)?(?P<name>\w+)(?::|\b)")
_RETRY = re.compile(r"Retrying in [\d.]+ seconds")
_TOKEN_LIMIT = re.compile(r"has hit a token limit!")
_STOPPED = re.compile(r"Only \d+ reflections allowed, stopping\.")
_NO_KEY = re.compile(r"No LLM model was specified and no API keys were provided|API keys? (?:\w+ )?not (?:set|found)")
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


class _Story:
    """What aider's own log of events adds up to: each sending to the model, and how the run ended."""

    def __init__(self, log: bytes) -> None:
        self.sent: list[Event] = []
        self.unanswered = False
        self.begun = self.completed = False
        for event in map(as_object, log.splitlines()):
            told = as_dict(event.get("properties"))
            match event.get("event"):
                case "message_send_starting":
                    self.begun = self.unanswered = True
                case "message_send":
                    self.unanswered = False
                    self.sent.append(told)
                case "exit":
                    self.completed = told.get("reason") == _COMPLETED

    @property
    def model(self) -> str:
        """The model that answered; aider does not write down one whose price it does not know."""
        named = str(self.sent[-1].get("main_model") or "") if self.sent else ""
        return "" if "REDACTED" in named else named

    @property
    def usage(self) -> Usage:
        if not self.sent:
            return Usage(estimated=True)
        return Usage(
            sum(as_count(one.get("prompt_tokens")) for one in self.sent),
            sum(as_count(one.get("completion_tokens")) for one in self.sent),
            round(sum(as_money(one.get("cost")) for one in self.sent), 6),
        )


class Aider:
    """Version 0.86; every turn is a conversation of its own, and the files it gets are those the prompt or the model names."""

    name = "aider"
    program = "aider"
    version_argv = ("aider", "--version")
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
        argv = ["aider", "--message-file", str(asked.prompt_file), "--yes-always"]
        argv += ["--no-auto-commits", "--no-dirty-commits", "--no-gitignore"]
        argv += ["--no-suggest-shell-commands", "--no-detect-urls"]
        argv += ["--no-pretty", "--no-stream", "--no-fancy-input", "--no-check-update", "--no-show-release-notes"]
        argv += ["--no-show-model-warnings", "--no-analytics", "--analytics-log", str(asked.folder / LOG)]
        argv += ["--llm-history-file", str(asked.folder / HISTORY), "--chat-history-file", str(asked.folder / CHAT)]
        argv += ["--input-history-file", str(asked.folder / INPUT)]
        argv += ["--dry-run"] if asked.access == "read" else []
        argv += ["--model", asked.model] if asked.model else []
        argv += asked.args
        return Invocation(argv=tuple(argv), env=_ENVIRONMENT, prompt_on_stdin=False, left=(LOG, HISTORY))

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.files.get(LOG, b""))
        kind, detail, reset_at = _outcome(story, heard)
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=_final_message(heard.files.get(HISTORY, b"")),
            usage=story.usage,
            reset_at=reset_at,
            model=story.model,
        )

    def show(self, event: Event) -> list[Shown]:  # noqa: ARG002 - aider prints text, which is shown as it is
        return []


AIDER = Aider()


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    """Only aider's own words at the very end are read, and only where its log says that the model did not answer."""
    last = heard.other[-_LAST_LINES:]
    if not story.begun:
        unset = next((line for line in heard.other if _NO_KEY.search(line)), "")
        return ("not_logged_in", unset, None) if unset else ("crashed", _last(last), None)
    if story.unanswered:
        return _failure(last, heard.now)
    ended = story.sent and as_count(story.sent[-1].get("completion_tokens")) == 0
    full = next((line for line in heard.other if _TOKEN_LIMIT.search(line)), "") if ended else ""
    if full:
        return "context_full", full.strip(), None
    if not story.completed:
        return "crashed", NO_END, None
    stopped = next((line for line in last[-3:] if _STOPPED.fullmatch(line.strip())), "")
    return ("max_turns", stopped.strip(), None) if stopped else ("ok", "", None)


def _failure(last: tuple[str, ...], now: datetime) -> HowEnded:
    starts = [at for at, line in enumerate(last) if _ERROR.match(line.strip())]
    if not starts:
        return "crashed", NO_ANSWER, None
    said = " ".join(line.strip() for line in last[starts[-1] :] if not _RETRY.search(line))
    found = _ERROR.match(said)
    known = _KINDS.get(found["name"]) if found else None
    limit = None if known else recognise_error({"message": said}, now, zones)
    if limit is not None:
        return limit.kind, limit.detail, limit.reset_at
    if "insufficient credits" in said.lower():
        return "usage_limit", said, None
    return known or "crashed", said, None


def _final_message(history: bytes) -> str:
    """The model's last answer, each line of which stands behind a word of aider's."""
    answers = _ANSWERED.findall(decode(history))
    if not answers:
        return ""
    return "\n".join(line.removeprefix("ASSISTANT").removeprefix(" ") for line in answers[-1].splitlines())


def _last(lines: tuple[str, ...]) -> str:
    return lines[-1].strip() if lines else NO_END
