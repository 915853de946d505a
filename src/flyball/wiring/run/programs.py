"""Which programs a command line starts, and whether they are here: as far as it can be told without running it."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

_BUILT_IN = frozenset(": [ cd echo exit export false printf pwd read set test true umask unset wait".split())
_PREFIXES = frozenset("! env exec nice nohup time".split())
_LOOKED_UP_ELSEWHERE = frozenset(". source eval alias".split())
"""After these only the shell knows which program a name means."""
_CONDITIONS = frozenset("|| case command for function hash if type until which while".split())
"""With these only the shell knows which programs are started at all."""
_ENDS = frozenset("&& ; | & |& ( )".split())
_REDIRECTION = re.compile(r"[<>]+&?|&>+")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=.*", re.DOTALL)
_TOLD_BY_THE_SHELL = re.compile(r"[$`*?{}~]")


def programs_of(command: str) -> tuple[str, ...]:
    """The programs a command line starts for certain, each as it is named there."""
    try:
        lines = [list(_words(line)) for line in command.replace("\\\n", " ").splitlines()]
    except ValueError:
        return ()
    if "<<" in command or any(word in _CONDITIONS for line in lines for word in line):
        return ()
    return tuple(dict.fromkeys(_started_programs(lines)))


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


def _words(line: str) -> Iterator[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    return iter(reader)


def _started_programs(lines: list[list[str]]) -> Iterator[str]:
    moved = False
    for words in _simple_commands(lines):
        rest = [word for word in words if word not in _PREFIXES]
        assigned = [match[1] for word in rest if (match := _ASSIGNMENT.fullmatch(word))]
        named = next((word for word in rest if not _ASSIGNMENT.fullmatch(word)), "")
        if named in _LOOKED_UP_ELSEWHERE or "PATH" in assigned:
            return
        moved = moved or named == "cd"
        unknown = not named or named in _BUILT_IN or named.startswith("-") or _TOLD_BY_THE_SHELL.search(named)
        if not unknown and not (moved and "/" in named and not named.startswith("/")):
            yield named


def _simple_commands(lines: list[list[str]]) -> Iterator[list[str]]:
    """The words of each command of a list or pipeline, without where its output goes."""
    for line in lines:
        words: list[str] = []
        redirected = False
        for word in line:
            if word in _ENDS:
                yield words
                words = []
            elif _REDIRECTION.fullmatch(word):
                redirected = True
                words = words[:-1] if words and words[-1].isdigit() else words
                continue
            elif not redirected:
                words.append(word)
            redirected = False
        yield words
