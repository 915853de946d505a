"""Whether changed sources parse: Python and JSON by their own readers, JavaScript by `node --check` where there is one."""

import json
import re
import shlex
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from flyball.measures.gates.commands import Commands
from flyball.measures.sources import LARGEST, Read, looks_like_test, text_of

CHECK_S = 60.0
_TEMPLATE = re.compile(rb"\{\{|\{%|<%")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_NODE = re.compile(r".*\.[cm]?js")
_LINE = re.compile(r":(\d+)$", re.MULTILINE)
_ERROR = re.compile(r"^\w*Error: .*$", re.MULTILINE)

Check = Callable[[list[str]], dict[str, str] | None]
"""Says what is wrong with each of some scripts; None where nobody can."""


class SyntaxFaults(msgspec.Struct, frozen=True):
    """What is wrong with each file that does not parse, and the files of which nobody can tell."""

    faults: dict[str, str] = {}
    unchecked: tuple[str, ...] = ()


def check_syntax(
    paths: Iterable[str], read: Read, base: Callable[[str], list[bytes]], check_scripts: Check
) -> SyntaxFaults:
    """Look at some files; `base` gives the sources of a kind that the project had before.

    A project that keeps sources that do not parse, as those of another version of its language, is not judged by them.
    """
    faults: dict[str, str] = {}
    unchecked: list[str] = []
    scripts: list[str] = []
    for path in paths:
        source = read(path)
        reader = _READERS.get(path.rpartition(".")[2])
        if source is None or looks_like_test(path):
            continue
        if _NODE.fullmatch(path):
            scripts.append(path)
        elif reader is None or len(source) > LARGEST:
            unchecked.append(path)
        elif wrong := reader(source):
            own_kind = any(reader(each) for each in base(path.rpartition(".")[2]))
            if own_kind or _TEMPLATE.search(source) or "{" in path:
                unchecked.append(path)
            else:
                faults[path] = f"{path}:{wrong}"
    found = check_scripts(scripts) if scripts else {}
    unchecked += scripts if found is None else []
    return SyntaxFaults({**faults, **(found or {})}, tuple(unchecked))


def _python(source: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "source", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"{error.lineno or 1}: it does not parse: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"1: it does not parse: {error}"
    return ""


def _json(source: bytes) -> str:
    """As JSON, as JSON with comments, or with one value a line."""
    text = text_of(source).removeprefix("\ufeff")
    bare = _LAST_COMMA.sub(lambda found: found[1] or "", _COMMENT.sub(lambda found: found[1] or " ", text))
    wrong = ""
    for values in ([text], [bare], [line for line in text.splitlines() if line.strip()]):
        try:
            for value in values:
                json.loads(value)
        except json.JSONDecodeError as error:
            wrong = wrong or f"{error.lineno}: it does not parse: {error.msg}"
        except RecursionError:
            return ""
        else:
            return ""
    return wrong


_READERS: dict[str, Callable[[bytes], str]] = {"py": _python, "json": _json}


class NodeCheck(msgspec.Struct, frozen=True):
    commands: Commands
    tree: Path

    def __call__(self, paths: list[str]) -> dict[str, str] | None:
        """What is wrong with each; None where there is no node."""
        faults: dict[str, str] = {}
        for path in paths[:20]:
            ran = self.commands.run(
                f"node --check {shlex.quote(path)}",
                tree=self.tree,
                folder=self.commands.fresh_folder("syntax"),
                timeout_s=CHECK_S,
            )
            if ran.exit.code != 0 and not _ERROR.search(ran.text):
                return None
            if ran.exit.code != 0:
                line, said = _LINE.search(ran.text), _ERROR.search(ran.text)
                faults[path] = f"{path}:{line[1] if line else 1}: it does not parse: {said[0] if said else ''}"
        return faults
