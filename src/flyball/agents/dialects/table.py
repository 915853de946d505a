"""The agents flyball knows by name: one dialect each."""

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

from flyball.agents.dialect import Dialect
from flyball.agents.dialects.acp import Acp
from flyball.agents.dialects.aider import AIDER
from flyball.agents.dialects.claude import CLAUDE
from flyball.agents.dialects.codex import CODEX
from flyball.agents.dialects.copilot import COPILOT
from flyball.agents.dialects.gemini import GEMINI
from flyball.agents.dialects.goose import GOOSE
from flyball.agents.dialects.opencode import OPENCODE
from flyball.agents.dialects.qwen import QWEN

_KNOWN: tuple[Dialect, ...] = (CLAUDE, CODEX, GEMINI, OPENCODE, COPILOT, QWEN, GOOSE, AIDER)
# Programs of their own that speak the protocol on behalf of a known one.
_ADAPTERS: Mapping[str, tuple[str, ...]] = {"claude": ("claude-agent-acp", "claude-code-acp"), "codex": ("codex-acp",)}

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _KNOWN})


def speaking_acp(command: tuple[str, ...]) -> Acp:
    """An agent that speaks the Agent Client Protocol; a known program's folders and variables go with its command."""
    program = PurePath(command[0]).name
    known = next(
        (dialect for dialect in _KNOWN if program == dialect.program or program in _ADAPTERS.get(dialect.name, ())),
        None,
    )
    if known is None:
        return Acp(command)
    return Acp(command, known.variables, known.homes, known.guarded, known.install, known.login)
