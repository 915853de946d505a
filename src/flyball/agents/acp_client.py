"""A client of the Agent Client Protocol as a program of its own: `python -m flyball.agents.acp_client [OPTIONS] -- COMMAND …`.

It gives the agent the prompt from standard input and prints, one JSON object a line, what the agent says, does and ends with. Its
events tell how a turn went, its exit status does not. It runs inside the sandbox, where every permission is granted.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyball.core.extras import install_command

if TYPE_CHECKING:
    from acp import schema
    from acp.interfaces import Agent

NO_SDK = f"the Agent Client Protocol needs its library: install it with: {install_command('acp', sys.executable)}"
LARGEST_MESSAGE = 64 * 1024 * 1024
AUTH_REQUIRED = -32000
_ALLOWING = ("allow_once", "allow_always")
"""Once first: always changes the mode some agents are in, and they say so in the middle of their answer."""
_SHOWN = frozenset({"agent_message_chunk", "tool_call", "tool_call_update", "usage_update"})
_KEYS = ("api-key", "api_key", "apikey")


def tell(event: str, **fields: Any) -> None:
    print(json.dumps({"type": event, **fields}, ensure_ascii=False, default=str), flush=True)  # noqa: T201 - its output


class Governed:
    """The client's side: it grants permissions, touches files when asked to, and passes on what happens."""

    def __init__(self) -> None:
        self.listening = False

    def on_connect(self, conn: Agent) -> None:
        """Nothing is kept of the connection."""

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        from acp import schema

        del session_id
        ranked = [option for kind in _ALLOWING for option in options if option.kind == kind]
        tell("permission", tool=tool_call.title, input=tool_call.raw_input, granted=bool(ranked))
        if not ranked:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        outcome = schema.AllowedOutcome(outcome="selected", option_id=ranked[0].option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> schema.CancelElicitationResponse:
        """A question to a person, who is asked by flyball when the turn has ended."""
        from acp import schema

        fields = _plain(_plain(_plain(mode).get("requestedSchema")).get("properties")).values()
        choices = [
            (str(field.get("description") or ""), _labels(field)) for field in map(_plain, fields) if _labels(field)
        ]
        text = " ".join(filter(None, (message, *(about for about, _ in choices))))
        tell("question", text=text, options=choices[0][1] if len(choices) == 1 else [])
        return schema.CancelElicitationResponse(action="cancel")

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """A conversation that is loaded is told again first: that is not this turn's."""
        del session_id
        told = _plain(update)
        if self.listening and told.get("sessionUpdate") in _SHOWN:
            tell("update", update=told)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> schema.ReadTextFileResponse:
        from acp import schema

        del session_id
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)  # noqa: ASYNC240 - there is no other work
        start = (line or 1) - 1
        return schema.ReadTextFileResponse(content="".join(lines[start : start + limit if limit else None]))

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        """Some agents call this though the client says that it has no files."""
        del session_id
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content, encoding="utf-8")  # noqa: ASYNC240 - there is no other work

    def __getattr__(self, name: str) -> Any:
        """Terminals and extensions are not offered."""
        if name.startswith("_"):
            raise AttributeError(name)

        async def refuse(*_: Any, **__: Any) -> Any:
            from acp import RequestError

            raise RequestError(-32601, "flyball's client does not offer this")

        return refuse


async def converse(options: argparse.Namespace, prompt: str, env: Mapping[str, str]) -> None:
    import acp

    client = Governed()
    settings = {"limit": LARGEST_MESSAGE, "stderr": None}
    spawned = acp.spawn_agent_process(
        client, *options.command, env=env, transport_kwargs=settings, use_unstable_protocol=True
    )
    async with spawned as (agent, _):
        forms = acp.schema.ElicitationCapabilities(form=acp.schema.ElicitationFormCapabilities())
        capabilities = acp.schema.ClientCapabilities(elicitation=forms)
        able = await agent.initialize(acp.PROTOCOL_VERSION, client_capabilities=capabilities)
        session = await _session(agent, able, options, env)
        client.listening = True
        answer = await agent.prompt(session, [acp.text_block(prompt)])
        tell("result", stop_reason=answer.stop_reason, usage=_plain(answer.usage), meta=answer.field_meta)


async def _session(agent: Any, able: Any, options: argparse.Namespace, env: Mapping[str, str]) -> str:
    """The conversation to go on with, or a new one; logged in by a key where that is asked for."""
    from acp import RequestError

    try:
        session, offered = await _open_session(agent, able, options)
    except RequestError as error:
        method = _by_key(able, env) if error.code == AUTH_REQUIRED else None
        if method is None:
            raise
        await agent.authenticate(method_id=method)
        session, offered = await _open_session(agent, able, options)
    tell("session", session=session, agent=_plain(able.agent_info))
    choice = next((each for each in map(_plain, offered) if each.get("category") == "model"), None)
    if options.model and choice is None:
        tell("note", text=f"the agent lets nobody choose a model; {options.model} is not asked for")
    elif options.model and choice is not None:
        await agent.set_config_option(config_id=str(choice["id"]), session_id=session, value=options.model)
    return session


async def _open_session(agent: Any, able: Any, options: argparse.Namespace) -> tuple[str, Sequence[Any]]:
    if not options.session:
        made = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])  # noqa: PTH109 - the protocol wants a text
        return str(made.session_id), made.config_options or ()
    loads = able.agent_capabilities is not None and able.agent_capabilities.load_session
    go_on = agent.load_session if loads else agent.resume_session
    found = await go_on(cwd=os.getcwd(), session_id=options.session, mcp_servers=[])  # noqa: PTH109 - the protocol wants a text
    return options.session, getattr(found, "config_options", None) or ()


def _by_key(able: Any, env: Mapping[str, str]) -> str | None:
    """A way to log in that asks nobody: by variables that are set, or by a key the agent finds itself."""
    methods = [_plain(each) for each in able.auth_methods or ()]
    for each in methods:
        wanted = [str(_plain(variable).get("name")) for variable in each.get("vars") or ()]
        if wanted and all(env.get(name) for name in wanted):
            return str(each["id"])
    return next((str(each["id"]) for each in methods if any(key in str(each.get("id")).lower() for key in _KEYS)), None)


def _labels(field: Mapping[str, Any]) -> list[str]:
    """What a field of a form offers to choose from."""
    items = _plain(field.get("items"))
    plain = field.get("enum") or items.get("enum") or ()
    titled = [_plain(option) for option in field.get("oneOf") or items.get("anyOf") or ()]
    return [*map(str, plain), *(str(option.get("title") or option.get("const")) for option in titled)]


def _plain(value: Any) -> dict[str, Any]:
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value if isinstance(value, dict) else {}


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="acp_client", allow_abbrev=False)
    parser.add_argument("--session", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(argv)
    if importlib.util.find_spec("acp") is None:
        tell("error", kind="not_installed", message=NO_SDK)
        return 0
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    from acp import RequestError

    try:
        asyncio.run(converse(options, prompt, env))
    except RequestError as error:
        tell("error", code=error.code, message=str(error), data=error.data)
    except FileNotFoundError as error:
        tell("error", kind="not_installed", message=f"{error.filename or options.command[0]} cannot be started")
    except (OSError, ConnectionError, asyncio.IncompleteReadError) as error:
        tell("error", kind="crashed", message=f"the connection to the agent broke: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))  # noqa: TID251 - a program of its own: the environment is its input
