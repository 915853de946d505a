"""The agents flyball knows by name: one dialect each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from flyball.agents.claude import CLAUDE
from flyball.agents.dialect import Dialect

_KNOWN: tuple[Dialect, ...] = (CLAUDE,)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _KNOWN})
