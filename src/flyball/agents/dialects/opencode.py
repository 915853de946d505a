"""OpenCode: how `opencode run` is asked, and what its stream of parts means; it has no final event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from flyball.agents.dialect import Event, HowEnded, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.display.display import Shown, answered, called, noticed, said
from flyball.agents.display.tool_calls import call_line
from flyball.agents.reading.loose_json import as_count, as_dict, as_money, as_object, object_in
from flyball.agents.reading.unreachable import unreachable
from flyball.agents.run.outcome import zones
from flyball.core.model.outcomes import NOTHING_USED, TurnKind, Usage
from flyball.core.providers.limits import recognise_error

NO_END = "OpenCode ended before its answer was finished"
ASK = "question"
_OFFERED = frozenset({"bash", "edit", "write", "patch"})
"""Tools every model is offered unless the user's rules deny them."""
_UNOFFERED = "unavailable tool"
_REFUSED = re.compile(r"rejected permission|rule which prevents|permission .*denied", re.IGNORECASE)
_LOST = "Session not found"
_LOGGED = re.compile(r'\blevel=ERROR\b.*?\berror="([^"]+)"')
"""A fault of its own is told by a reference to its log alone."""
_NAMED: dict[str, TurnKind] = {
    "ContextOverflowError": "context_full",
    "MessageOutputLengthError": "context_full",
    "ProviderAuthError": "not_logged_in",
}
_RETRY = ("retry-after", "retry-after-ms", "x-ratelimit-reset")
_RETRYING = r'message="stream error" .*\bsmall=false\b'
"""Of a title, which a small model makes, nothing depends."""
_SERVER_FAULT = 500


class _Story:
    """What the parts of one run add up to; the last step or error is how it ended."""

    def __init__(self, lines: Iterable[Event]) -> None:
        self.session, self.text, self.reason = "", "", ""
        self.error: Event = {}
        self.asked = False
        self.refused: list[str] = []
        self.usage = NOTHING_USED
        self.steps = 0
        self._message = ""
        for event in lines:
            self.session = str(event.get("sessionID") or self.session)
            self._take(event, as_dict(event.get("part")))

    def _take(self, event: Event, part: Event) -> None:
        match event.get("type"):
            case "text" if not part.get("synthetic"):
                self._spoken(str(part.get("messageID")), str(part.get("text") or ""))
            case "tool_use":
                self._called(part)
            case "step_finish":
                self.reason, self.error = str(part.get("reason") or ""), {}
                self.usage = self.usage.plus(_step_usage(part))
                self.steps += 1
            case "error":
                self.error = as_dict(event.get("error")) or {"name": "UnknownError"}

    def _spoken(self, message: str, text: str) -> None:
        self.text = f"{self.text}\n{text}" if message == self._message else text
        self._message = message

    def _called(self, part: Event) -> None:
        """A tool that is not offered, since it is denied or nobody is there to answer, is called `invalid`."""
        state = as_dict(part.get("state"))
        inputs = as_dict(state.get("input"))
        name = inputs.get("tool") if part.get("tool") == "invalid" else part.get("tool")
        unoffered = part.get("tool") == "invalid" and _UNOFFERED in str(inputs.get("error"))
        if name == ASK and (unoffered or state.get("status") == "error"):
            self.asked = True
        elif (unoffered and name in _OFFERED) or _REFUSED.search(str(state.get("error") or "")):
            self.refused.append(call_line(name, inputs))


class OpenCode:
    """Version 1.18 and later."""

    name = "opencode"
    program = "opencode"
    version_argv = ("opencode", "--version")
    tells_money = True
    install = "npm install --global opencode-ai"
    login = "opencode auth login (or set the provider's own key, for example ANTHROPIC_API_KEY)"
    variables = (
        *("OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR", "OPENCODE_API_KEY"),
        *("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_LSP_DOWNLOAD"),
        *(
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENROUTER_API_KEY",
        ),
        *("GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "MISTRAL_API_KEY"),
    )
    homes = (".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode")
    guarded = (
        *(f".config/opencode/{name}" for name in ("opencode.json", "opencode.jsonc", "config.json", "AGENTS.md")),
        *(
            f".config/opencode/{name}{s}"
            for name in ("agent", "command", "mode", "plugin", "skill", "tool")
            for s in ("", "s")
        ),
        *(f".config/opencode/{name}" for name in ("package.json", "node_modules")),
        *(f".cache/opencode/{name}" for name in ("bin", "node_modules", "packages")),
        ".local/share/opencode/bin",
    )

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        if any(environment.get(name) for name in self.variables if name.endswith("_API_KEY")):
            return True
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share") / "opencode"
        # Without a login there are its own free models, and models on this machine.
        return True if object_in(data / "auth.json") else None

    def invoke(self, asked: TurnRequest) -> Invocation:
        """Permission is left to flyball's sandbox; its log is the only place where it says that it waits."""
        argv = ["opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"]
        argv += ["--auto"] if asked.sandboxed else []
        argv += ["--model", asked.model] if asked.model else []
        argv += ["--session", asked.session] if asked.session else []
        own = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}
        return Invocation(argv=(*argv, *asked.args), env=own, retrying=_RETRYING)

    def read(self, heard: ProgramOutput) -> TurnReading:
        story = _Story(heard.lines)
        kind, detail, reset_at = _outcome(story, heard)
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=story.text,
            usage=story.usage if story.steps else Usage(estimated=True),
            session=story.session,
            reset_at=reset_at,
            question=story.text if kind == "question" else "",
        )

    def show(self, event: Event) -> list[Shown]:
        part = as_dict(event.get("part"))
        state = as_dict(part.get("state"))
        match event.get("type"):
            case "text" if not part.get("synthetic"):
                return said(part.get("text"))
            case "tool_use":
                came = answered(state.get("error") or state.get("output"), failed=state.get("status") == "error")
                return called(part.get("tool"), as_dict(state.get("input"))) + came
            case "error":
                return noticed(_message(as_dict(event.get("error"))))
        return []


OPENCODE = OpenCode()


def _outcome(story: _Story, heard: ProgramOutput) -> HowEnded:
    if story.error:
        return _failure(story.error, heard)
    if story.reason == "stop" and story.asked:
        return "question", "it asked a question", None
    if story.refused:
        return "denied", f"denied: {'; '.join(story.refused)}", None
    if story.reason == "stop":
        return "ok", "", None
    return _unfinished(story, heard)


def _unfinished(story: _Story, heard: ProgramOutput) -> HowEnded:
    if _LOST in heard.stderr_text:
        return "context_full", f"the conversation {heard.asked.session} is gone", None
    ended = f"{NO_END} (its last step ended with {story.reason!r})" if story.reason else NO_END
    return "crashed", ended, None


def _failure(error: Event, heard: ProgramOutput) -> HowEnded:
    data, said = as_dict(error.get("data")), _message(error)
    if data.get("ref"):
        logged = _LOGGED.findall(heard.stderr_text)
        return "crashed", logged[-1] if logged else said, None
    named = _NAMED.get(str(error.get("name")))
    if named:
        return named, said, None
    headers = {name: as_dict(data.get("responseHeaders")).get(name) for name in _RETRY}
    told = {
        "message": said,
        "status": str(data.get("statusCode") or ""),
        "body": as_object(str(data.get("responseBody"))),
        "headers": {name: value for name, value in headers.items() if value},
    }
    found = recognise_error(told, heard.now, zones)
    if found is not None:
        return found.kind, found.detail, found.reset_at
    retryable = as_count(data.get("statusCode")) >= _SERVER_FAULT or data.get("isRetryable") is True
    if retryable or unreachable(said):
        return "overloaded", said, None
    return "crashed", said, None


def _message(error: Event) -> str:
    return str(as_dict(error.get("data")).get("message") or error.get("message") or error.get("name") or NO_END)


def _step_usage(part: Event) -> Usage:
    tokens = as_dict(part.get("tokens"))
    cache = as_dict(tokens.get("cache"))
    return Usage(
        as_count(tokens.get("input")) + as_count(cache.get("read")) + as_count(cache.get("write")),
        as_count(tokens.get("output")) + as_count(tokens.get("reasoning")),
        as_money(part.get("cost")),
    )
