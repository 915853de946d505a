"""The agents flyball knows by name: one dialect each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flyball.agents.aider import AIDER
from flyball.agents.claude import CLAUDE
from flyball.agents.codex import CODEX
from flyball.agents.copilot import COPILOT
from flyball.agents.dialect import Dialect
from flyball.agents.gemini import GEMINI
from flyball.agents.goose import GOOSE

_KNOWN: tuple[Dialect, ...] = (CLAUDE, CODEX, GEMINI, COPILOT, GOOSE, AIDER)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _KNOWN})
