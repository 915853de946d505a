"""Which programs a command line starts, and whether they are here: as far as it can be told without running it."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from flyball.measures.tampering.shell_text import commands

_BUILT_IN = frozenset(": [ cd echo exit export false printf pwd read set test true umask unset wait".split())
_PREFIXES = frozenset("! env exec nice nohup time".split())
_LOOKED_UP_ELSEWHERE = frozenset(". source eval alias".split())
"""After these only the shell knows which program a name means."""
_CONDITIONS = frozenset("case command for function hash if type until which while".split())
"""With these only the shell knows which programs are started at all."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=.*", re.DOTALL)
_TOLD_BY_THE_SHELL = re.compile(r"[$`*?{}~]")


def programs_of(command: str) -> tuple[str, ...]:
    """The programs a command line starts for certain, each as it is named there."""
    started = [each.words for each in commands(command)]
    if "<<" in command or "||" in command or any(word in _CONDITIONS for words in started for word in words):
        return ()
    return tuple(dict.fromkeys(_started_programs(started)))


def missing_programs(command: str, root: Path, environment: Mapping[str, str], setup: str = "") -> tuple[str, ...]:
    """Those of a command's programs that are not here, and that neither `setup` nor an earlier one of them will bring."""
    programs = programs_of(command)
    bringing = {word: f"{setup} {command.rpartition(word)[0]}" for word in programs[1:]}
    return tuple(word for word in programs if not _is_there(word, root, environment, bringing.get(word, setup)))


def _is_there(word: str, root: Path, environment: Mapping[str, str], setup: str) -> bool:
    if "/" in word and not word.startswith("/"):
        return bool(setup) or (root / word).exists()
    found = shutil.which(word, path=environment.get("PATH", os.defpath)) is not None
    return found or re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", setup) is not None


def _started_programs(started: Iterable[Sequence[str]]) -> Iterator[str]:
    moved = False
    for words in started:
        rest = [word for word in words if word not in _PREFIXES]
        assigned = [match[1] for word in rest if (match := _ASSIGNMENT.fullmatch(word))]
        named = next((word for word in rest if not _ASSIGNMENT.fullmatch(word)), "")
        if named in _LOOKED_UP_ELSEWHERE or "PATH" in assigned:
            return
        moved = moved or named == "cd"
        unknown = not named or named in _BUILT_IN or named.startswith("-") or _TOLD_BY_THE_SHELL.search(named)
        if not unknown and not (moved and "/" in named and not named.startswith("/")):
            yield named
