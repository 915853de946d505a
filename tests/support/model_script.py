"""What a scripted model answers: a list of steps, one for each request that offers tools."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

SHELLS = frozenset(
    "Bash bash exec_command shell shell_command local_shell run_shell_command developer__shell execute".split()
)
"""What clients call the tool that runs a command."""
_TIME = re.compile(r"\{(now|iso|http)([+-]\d+)?\}")
_FORMATS = {"iso": "%Y-%m-%dT%H:%M:%SZ", "http": "%a, %d %b %Y %H:%M:%S GMT"}
_NONCE = re.compile(r"nonce[\\\"': ]{1,8}([0-9a-f]{16,64})\b")


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call; the name "*" is the first tool the client offers, a text as input is for tools that take no JSON."""

    name: str
    input: dict[str, Any] | str = {}


class Tokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the answer is said to have cost."""

    input: int = 100
    output: int = 20
    cached: int = 0


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error of the provider; `body` stands in for the one made of type and message.

    In headers and body `{now+7200}` becomes Unix seconds, `{iso+7200}` and `{http+7200}` a date; a text that is nothing but `{now…}`
    becomes a number in a body.
    """

    status: int = 500
    type: str = "api_error"
    message: str = "Internal server error"
    headers: dict[str, str] = {}
    body: dict[str, Any] | None = None


class ModelAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer: what it says, then what it calls; or how it fails.

    `shell` runs a command through whatever shell tool the client offers. `{nonce}` in texts and inputs becomes the nonce the prompt
    asks to be repeated. `broken` is an error in the middle of a stream, `cut` ends the stream there, `hang` never answers;
    `headers` go with a good answer. `repeat` 0 is for ever.
    """

    say: str = ""
    calls: tuple[Call, ...] = ()
    shell: str = ""
    usage: Tokens = Tokens()
    fault: Fault | None = None
    broken: Fault | None = None
    headers: dict[str, str] = {}
    cut: bool = False
    hang: bool = False
    delay_s: float = 0.0
    truncated: bool = False
    repeat: int = 1


class ModelScript(msgspec.Struct, frozen=True, omit_defaults=True):
    """The steps in order; without `tools_needed` every request takes one, for clients that offer no tools."""

    steps: tuple[ModelAnswer, ...] = ()
    tools_needed: bool = True
    afterwards: str = "There is nothing left to do."


class Reply(msgspec.Struct, frozen=True):
    """A step as it is answered to one request: names and inputs settled."""

    number: int
    text: str
    calls: tuple[tuple[str, str, dict[str, Any] | str], ...]
    usage: Tokens = Tokens()
    truncated: bool = False


class ScriptUnreadable(ValueError):
    """The file is no script; the message says where."""


def load(path: Path) -> ModelScript:
    """A script from a JSON file: an object like Script, or its list of steps."""
    try:
        value = json.loads(path.read_bytes())
        return msgspec.convert({"steps": value} if isinstance(value, list) else value, ModelScript)
    except (OSError, ValueError) as error:
        raise ScriptUnreadable(f"{path}: {error}") from error


def reply(step: ModelAnswer, number: int, tools: dict[str, dict[str, Any]], request: str) -> Reply:
    """What a step says to this request; `tools` are the schemas of what the client offers, by name."""
    nonce = next(iter(reversed(_NONCE.findall(request))), "")
    wanted = [*step.calls]
    if step.shell:
        name = next((name for name in tools if name in SHELLS), "no-shell-offered")
        wanted.append(Call(name, shell_input(step.shell, tools.get(name, {}))))
    first = next(iter(tools), "no-tool-offered")
    calls = tuple(
        (f"call_{number}_{place}", first if call.name == "*" else call.name, fill_nonce(call.input, nonce))
        for place, call in enumerate(wanted)
    )
    return Reply(number, str(fill_nonce(step.say, nonce)), calls, step.usage, step.truncated)


def shell_input(command: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A shell tool's input as its schema wants it."""
    properties = schema.get("properties") or {}
    field = next((name for name in ("command", "cmd", "script") if name in properties), "command")
    wants_list = (properties.get(field) or {}).get("type") == "array"
    given: dict[str, Any] = {field: ["bash", "-c", command] if wants_list else command}
    for name in schema.get("required") or ():
        kind = (properties.get(name) or {}).get("type")
        given.setdefault(name, {"boolean": False, "integer": 60, "number": 60}.get(str(kind), "as asked"))
    return given


def fill_nonce(value: Any, nonce: str) -> Any:
    """The value with the nonce in its texts."""
    if isinstance(value, str):
        return value.replace("{nonce}", nonce)
    if isinstance(value, dict):
        return {name: fill_nonce(part, nonce) for name, part in value.items()}
    return [fill_nonce(part, nonce) for part in value] if isinstance(value, list) else value


def fill_times(value: Any, now: datetime) -> Any:
    """The value with the times in its texts."""
    if isinstance(value, dict):
        return {name: fill_times(part, now) for name, part in value.items()}
    if isinstance(value, list):
        return [fill_times(part, now) for part in value]
    if not isinstance(value, str):
        return value

    def spell(found: re.Match[str]) -> str:
        moment = now.astimezone(UTC) + timedelta(seconds=int(found[2] or 0))
        return moment.strftime(_FORMATS[found[1]]) if found[1] in _FORMATS else str(int(moment.timestamp()))

    text, whole = _TIME.sub(spell, value), _TIME.fullmatch(value)
    return int(text) if whole and whole[1] == "now" else text
