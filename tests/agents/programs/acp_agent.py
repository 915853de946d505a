"""A small agent that speaks the Agent Client Protocol: it does what the prompt says, one word a line."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema

KEY = "some-api-key"


class Small:
    """Its words: say TEXT, client-write PATH, ask, refuse-me, question TEXT, terminal, fail CODE MESSAGE, stop REASON, die."""

    def __init__(self) -> None:
        self.logged_in = "--login" not in sys.argv
        self.model = ""

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        capabilities = schema.AgentCapabilities(load_session=True)
        method = schema.AuthMethodAgent(id=KEY, name="a key")
        return schema.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=capabilities, auth_methods=[method]
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self.logged_in = method_id == KEY

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        if not self.logged_in:
            raise acp.RequestError(-32000, "log in first")
        option = schema.SessionConfigSelectOption(name="Big", value="big")
        models = schema.SessionConfigOptionSelect(
            id="model", name="Model", type="select", category="model", current_value="big", options=[option]
        )
        return schema.NewSessionResponse(session_id=f"session of {Path(cwd).name}", config_options=[models])

    async def load_session(self, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        if session_id == "lost":
            raise acp.RequestError(-32002, "no such session")
        await self.say(session_id, "told before")
        return schema.LoadSessionResponse()

    async def set_config_option(self, value: Any, **_: Any) -> schema.SetSessionConfigOptionResponse:
        self.model = value
        return schema.SetSessionConfigOptionResponse(config_options=[])

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        stop: Any = "end_turn"
        for line in prompt[0].text.splitlines():
            word, _, rest = line.partition(" ")
            stop = await self.do(session_id, word, rest) or stop
        return schema.PromptResponse(stop_reason=stop)

    async def do(self, session: str, word: str, rest: str) -> str | None:
        match word:
            case "say":
                await self.say(session, rest.replace("{model}", self.model))
            case "client-write":
                path = str(Path(rest).resolve())  # noqa: ASYNC240 - there is no other work
                await self.conn.write_text_file(session_id=session, path=path, content="written\n")
            case "ask" | "refuse-me":
                await self.ask(session, ("allow_once", "reject_once") if word == "ask" else ("reject_once",))
            case "question":
                await self.question(session, rest)
            case "terminal":
                await self.conn.create_terminal(session_id=session, command="ls")
            case "fail":
                code, _, message = rest.partition(" ")
                raise acp.RequestError(int(code), message, {"errorKind": "rate_limit"})
            case "stop":
                return rest
            case "die":
                sys.exit(3)
        return None

    async def say(self, session: str, text: str) -> None:
        await self.conn.session_update(session_id=session, update=acp.update_agent_message_text(text))

    async def ask(self, session: str, kinds: tuple[Any, ...]) -> None:
        options = [schema.PermissionOption(option_id=f"id of {kind}", name=kind, kind=kind) for kind in kinds]
        call = schema.ToolCallUpdate(tool_call_id="1", title="shell", raw_input={"command": "make"})
        given = await self.conn.request_permission(session_id=session, tool_call=call, options=options)
        await self.say(session, f"given {getattr(given.outcome, 'option_id', 'nothing')}")

    async def question(self, session: str, text: str) -> None:
        choice = schema.ElicitationStringPropertySchema(type="string", enum=["SQLite", "Postgres"])
        form = schema.ElicitationSchema(type="object", properties={"database": choice})
        mode = schema.ElicitationFormSessionMode(session_id=session, requested_schema=form)
        given = await self.conn.create_elicitation(message=text, mode=mode)
        await self.say(session, f"they said {given.action}")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Small()))  # type: ignore[arg-type]
