"""What a program that a gate starts imports beside itself, and which other programs it starts."""

import ast
import re
from collections.abc import Iterator

from flyball.measures.sources import called_name, is_script, parse
from flyball.measures.tampering.command_reading import Reference, references

_STARTS = frozenset(
    """run call check_call check_output Popen system popen getoutput getstatusoutput create_subprocess_exec
    create_subprocess_shell""".split()
)
_LOOKED_AT = frozenset({"check_output", "getoutput", "getstatusoutput", "popen"})
_IMPORTED = re.compile(
    r"""(?P<bare>^[ \t]*)?(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'](?P<path>\.{1,2}/[^"']+)["']""",
    re.MULTILINE,
)
_STARTED_BY_SCRIPT = re.compile(
    r"^(?P<before>.*?)\b(?:exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)\s*\((?P<given>[^;\n]*)",
    re.MULTILINE,
)
TEXTS = re.compile(r"""["'`]([^"'`\n]+)["'`]""")
_SHEBANG = re.compile(r"#!.*?\b(python|node|ruby|perl|php|lua)")
_OTHER = re.compile(r".*\.(?:rb|pl|pm|t|php|lua|R|tcl)")


def language(path: str, text: str) -> str:
    """The language of a program, by its name or its first line; empty for a shell's and what is none."""
    if path.endswith(".py"):
        return "python"
    if is_script(path):
        return "script"
    found = _SHEBANG.match(text)
    if found:
        return {"python": "python", "node": "script"}.get(found[1], "other")
    return "other" if _OTHER.fullmatch(path) else ""


def started_by(text: str, kind: str) -> Iterator[Reference]:
    """Which programs and files a program has run, as it names them."""
    if kind == "python":
        yield from _started_by_python(parse(text.encode()))
    elif kind == "script":
        for call in _STARTED_BY_SCRIPT.finditer(text):
            words = " ".join(TEXTS.findall(call["given"]))
            used = bool(re.search(r"=|\breturn\b|\($", call["before"].rpartition(";")[2]))
            yield from _as_examined(references(words)) if used else references(words)


def _as_examined(found: Iterator[Reference]) -> Iterator[Reference]:
    """The same of a command whose output is used."""
    return (("examines" if how == "executes" else how, what) for how, what in found)


def imported_files(text: str) -> Iterator[tuple[str, bool]]:
    """The files a script imports, and of each whether that is to run it: it takes nothing from it."""
    for found in _IMPORTED.finditer(text):
        line = text[text.rfind("\n", 0, found.start("path")) + 1 : found.end()]
        yield found["path"], re.match(r"\s*(?:import\s*[\"']|require\s*\(|await import\s*\()", line) is not None


def _started_by_python(module: ast.Module | None) -> Iterator[Reference]:
    for node in ast.walk(module) if module else ():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = called_name(node)
        if name not in _STARTS:
            continue
        command = " ".join(_words(node.args[0]))
        used = name in _LOOKED_AT or any(k.arg in {"capture_output", "stdout"} for k in node.keywords)
        yield from _as_examined(references(command)) if used else references(command)


def _words(value: ast.expr) -> list[str]:
    """The words of a command, as far as they stand in the source; parts of one path are put together."""
    if isinstance(value, ast.List | ast.Tuple):
        return [" ".join(_words(each)) for each in value.elts]
    if isinstance(value, ast.Attribute) and value.attr == "executable":
        return ["python"]
    found = [str(n.value) for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return ["/".join(part.strip("/") for part in found)] if len(found) > 1 else found
