"""Documents, decision records and Mermaid diagrams a candidate added or changed."""

import re
from pathlib import PurePosixPath

from flyball.core.measurement import Files
from flyball.core.task import Commit
from flyball.measures.trees import Trees

SUPERFICIAL = "Mermaid diagrams are checked by their first word, brackets and quotes only; no Mermaid parser is used"

_DOCUMENT = re.compile(r".*\.(md|rst|adoc)|(?:.*/)?(?:openapi|swagger)[^/]*\.(?:ya?ml|json)", re.IGNORECASE)
_DECISION = re.compile(r"(?:.*/)?decisions/[^/]+|(?:.*/)?ADR-[^/]*", re.IGNORECASE)
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


def is_document(path: str) -> bool:
    return bool(_DOCUMENT.fullmatch(path))


def is_decision_record(path: str) -> bool:
    return is_document(path) and bool(_DECISION.fullmatch(path))


def measure_files(workspace: Trees, base: Commit, candidate: Commit) -> Files:
    """What differs between base and candidate, and what the changed documents hold."""
    changes = workspace.changed(base, candidate) if base != candidate else ()
    written = [path for status, path in changes if status[:1] != "D"]
    documents = [path for path in written if is_document(path) and not path.startswith(".loop/")]
    valid, broken = 0, []
    for path in documents:
        text = (workspace.read_file(candidate, path) or b"").decode("utf-8", "replace")
        for number, trouble in enumerate(diagram_troubles(text), start=1):
            if trouble:
                broken.append(f"{path}, diagram {number}: {trouble}")
            else:
                valid += 1
    return Files(
        created=sum(status[:1] == "A" for status, _ in changes),
        modified=sum(status[:1] not in {"A", "D"} for status, _ in changes),
        deleted=sum(status[:1] == "D" for status, _ in changes),
        documents=len(documents),
        decision_records=sum(is_decision_record(path) for path in documents),
        diagrams=valid + len(broken),
        diagrams_valid=valid,
        diagrams_broken=tuple(broken),
    )


def diagram_troubles(markdown: str) -> list[str]:
    """For each Mermaid diagram of a document what is wrong with it, or an empty string."""
    found = [diagram_trouble(match[2]) for match in _FENCE.finditer(markdown)]
    unclosed = len(_UNCLOSED.findall(markdown)) - len(found)
    return found + ["its fence is never closed"] * max(unclosed, 0)


def diagram_trouble(source: str) -> str:
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
        return _unbalanced(lines[1:])
    return ""


def _unbalanced(lines: list[str]) -> str:
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


def is_readme(path: str) -> bool:
    return PurePosixPath(path).name.lower().startswith("readme")


def is_changelog(path: str) -> bool:
    return bool(
        re.fullmatch(
            r"(?:changelog|changes|history|news|release[-_]?notes)(?:\.\w+)?", PurePosixPath(path).name.lower()
        )
    )
