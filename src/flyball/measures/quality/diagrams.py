"""Mermaid diagrams of documents: Mermaid's own parser where it is installed, and their shape where it is not."""

import json
import re
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from typing import Any

from flyball.measures.gates.commands import Commands

INSTALL = "npm install --global mermaid jsdom"
PATIENCE_S = 120.0
SUPERFICIAL = "Mermaid diagrams were checked by their first word, brackets and quotes only"
UNCLOSED = "its fence is never closed"

Complaints = Callable[[Sequence[str | None]], Sequence[str]]
"""For each diagram what is wrong with it, or an empty string; None is a diagram whose fence is never closed."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*\{?mermaid\b[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_UNCLOSED = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\{?mermaid\b", re.MULTILINE)
_FLOW = re.compile(r"(?:graph|flowchart)\b(?:[ \t]+(?:TB|TD|BT|RL|LR))?[ \t]*;?")
_KINDS = re.compile(
    r"(?:sequenceDiagram|classDiagram(?:-v2)?|stateDiagram(?:-v2)?|erDiagram|journey|gantt|pie\b.*|quadrantChart|requirementDiagram"
    r"|gitGraph\b.*|mindmap|timeline|zenuml|sankey-beta|xychart-beta\b.*|block-beta|packet-beta|kanban|architecture-beta|C4\w+|radar-beta)"
)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ARROW = re.compile(r"[-=.~<>ox|]*(?:-->|->>|==>|-\.->|--|->|<\|--|\.\.>|\.\.|<-->|--\)|-x|--x)[-=.~<>ox|]*")
_ENTITY_LINK = re.compile(r"[|}][|o](?:--|\.\.)[|o][|{]")
_FLAG = re.compile(r"\b\w+>[^\]\n]*\]")
_LABEL = re.compile(r"\"[^\"\n]*\"")


def diagrams_of(markdown: str) -> list[str | None]:
    found: list[str | None] = [match[2] for match in _FENCE.finditer(markdown)]
    unclosed = len(_UNCLOSED.findall(markdown)) - len(found)
    return found + [None] * max(unclosed, 0)


def shapes(diagrams: Sequence[str | None]) -> list[str]:
    """What can be said of diagrams without a parser."""
    return [UNCLOSED if source is None else shape_of(source) for source in diagrams]


class Diagrams:
    """Asks Mermaid's parser; `notes` say what a check without it could not see."""

    def __init__(self, commands: Commands, tree: Path) -> None:
        self._commands = commands
        self._tree = tree
        self.notes: tuple[str, ...] = ()

    def __call__(self, diagrams: Sequence[str | None]) -> list[str]:
        sources = [source for source in diagrams if source is not None]
        complaints = iter(self._complaints(sources) if sources else ())
        return [UNCLOSED if source is None else next(complaints) for source in diagrams]

    def _complaints(self, sources: Sequence[str]) -> list[str]:
        said = self._ask_parser(sources)
        if isinstance(said, list) and len(said) == len(sources):
            return [str(complaint) for complaint in said]
        why = f"the npm package {said['missing']} is missing" if isinstance(said, dict) else said
        self.notes = (f"{SUPERFICIAL}, for Mermaid's parser could not be asked ({why}); it comes with: {INSTALL}",)
        return [shape_of(source) for source in sources]

    def _ask_parser(self, sources: Sequence[str]) -> Any:
        """What the parser says, or a sentence why it says nothing."""
        folder = self._commands.fresh_folder("mermaid")
        asked = folder / "diagrams.json"
        asked.write_text(json.dumps(sources), encoding="utf-8")
        with as_file(files("flyball.measures") / "mermaid.mjs") as script:
            ran = self._commands.run(
                f"exec node {quote(str(script))} {quote(str(asked))}",
                tree=self._tree,
                folder=folder,
                timeout_s=PATIENCE_S,
                writable=(folder,),
            )
        if ran.exit.code == 127:
            return "node is not installed"
        last = next((line for line in reversed(ran.text.splitlines()) if line.strip()), "it said nothing")
        try:
            return json.loads(last) if ran.exit.code == 0 else last[:200]
        except ValueError:
            return last[:200]


def shape_of(source: str) -> str:
    """Why a diagram cannot be right, as far as its first word, brackets and quotes tell."""
    body = re.sub(r"\A\s*---\n.*?\n---\n", "", source, flags=re.DOTALL)
    lines = [line.strip() for line in body.splitlines() if line.strip() and not line.strip().startswith("%%")]
    if not lines:
        return "it is empty"
    kind = lines[0].rstrip(";")
    flow = bool(_FLOW.fullmatch(kind))
    if not flow and not _FLOW.match(kind + " ") and not _KINDS.fullmatch(kind):
        return f"unknown diagram type: {kind[:40]}"
    if len(lines) == 1 and flow:
        return "it has no content"
    for line in lines[1:]:
        if line.count('"') % 2:
            return f"a quote is not closed: {line[:60]}"
    if kind.split()[0] in {"graph", "flowchart", "classDiagram", "stateDiagram", "stateDiagram-v2", "erDiagram"}:
        return _bracket_complaint(lines[1:])
    return ""


def _bracket_complaint(lines: list[str]) -> str:
    open_ones: list[str] = []
    for line in lines:
        plain = _LABEL.sub("", line)
        for ornament in (_ENTITY_LINK, _ARROW, _FLAG):
            plain = ornament.sub(" ", plain)
        for character in plain:
            if character in _PAIRS.values():
                open_ones.append(character)
            elif character in _PAIRS and (not open_ones or open_ones.pop() != _PAIRS[character]):
                return f"a bracket does not match: {line[:60]}"
    return f"a bracket is not closed: {open_ones[-1]}" if open_ones else ""
