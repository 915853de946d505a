"""A source whose changed parts are broken on purpose: its functions raise, its values are others.

A file that is broken this way can still be imported, so a test that only imports it notices nothing.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from flyball.measures.scripts import Code
from flyball.measures.sources import Function, is_script, parse, text_of

GARBLED = b"This file was broken on purpose by flyball: it is no program.\n"
_SHELL = re.compile(r".*\.(?:sh|bash|zsh|ksh|bats)")
_NO_FUNCTION = frozenset({"if", "for", "while", "switch", "catch", "with", "await", "super"})
_HEADING = re.compile(r"(?:=>|\)\s*(?::\s*[^(){};=\s][^(){};=]*)?)\s*$")
"""What stands before the body of a function, and before the block of a statement with a condition."""
_CURRIED = re.compile(r"\s*(?:async\s+)?(?:\([^()]*\)|[\w$]+)\s*=>")
_TYPED_ARROW = re.compile(r"(?:^|[\n;])\s*(?:export\s+)?(?:declare\s+)?(?:type|interface)\b[^;\n]*$|:\s*\([^()]*\)\s*$")

Spans = tuple[tuple[int, int], ...]
Edit = tuple[int, int, bytes]
"""Where in a source something is replaced, up to where, and by what."""


class BrokenPart(msgspec.Struct, frozen=True):
    """A changed function or value of a file; `new` where the file had none of that name."""

    name: str
    line: int
    new: bool


class Broken(msgspec.Struct, frozen=True):
    """A source with its changed parts broken; `coarse` where nothing smaller than the file could be."""

    source: bytes
    parts: tuple[BrokenPart, ...] = ()
    coarse: bool = False


def mark_of(part: BrokenPart) -> str:
    """What a broken function says when it is called."""
    return f"flyball broke {part.name} on purpose"


def break_changes(
    path: str, old: bytes | None, new: bytes, added: Callable[[], Spans], only: frozenset[str] | None = None
) -> Broken | None:
    """The source with what is new or changed in it broken; None where nothing was added or changed.

    `added` are the new or changed lines: the first of each span, and how many. Only the parts named in `only` are broken, if any are.
    """
    if path.endswith(".py"):
        return _break_python(old, new, only)
    if is_script(path):
        return _break_script(path, text_of(old), text_of(new), added, only)
    if _SHELL.fullmatch(path) or (new.startswith(b"#!") and b"sh" in new[:40].partition(b"\n")[0]):
        first, line, rest = new.partition(b"\n") if new.startswith(b"#!") else (b"", b"", new)
        return Broken(first + line + b"echo 'broken on purpose by flyball' >&2; exit 97\n" + rest, coarse=True)
    return Broken(GARBLED, coarse=True)


def _break_python(old: bytes | None, new: bytes, only: frozenset[str] | None) -> Broken | None:
    module = parse(new)
    if module is None:
        return Broken(GARBLED, coarse=True)
    changed = list(changed_statements(old, module))
    if not changed:
        return None
    earlier = _statements((parse(old) or ast.Module([], [])).body)
    before = {f"{scope}{name}" for scope, node in earlier if (name := _name_of(node))}
    lines = new.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    edits: list[Edit] = []
    parts: list[BrokenPart] = []
    for name, node in changed:
        part = BrokenPart(name, node.lineno, name not in before)
        edit = _edit(node, mark_of(part), lines, starts) if only is None or name in only else None
        if edit is not None:
            edits.append(edit)
            parts.append(part)
    if edits:
        for start, end, text in sorted(edits, reverse=True):
            new = new[:start] + text + new[end:]
        return Broken(new, tuple(parts))
    if only is not None:
        return None
    return Broken(old or b"", coarse=True)


def changed_statements(old: bytes | None, module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The functions and statements of a module that an older source lacks, by their names; docstrings count for nothing."""
    earlier = parse(old)
    known = {_text(node, scope) for scope, node in _statements(earlier.body if earlier else [])}
    yield from _differing(module.body, "", known)


def _differing(body: Iterable[ast.stmt], scope: str, known: set[str]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if _text(node, scope) in known or _is_docstring(node):
            continue
        if isinstance(node, ast.ClassDef):
            inner = list(_differing(node.body, f"{scope}{node.name}.", known))
            yield from inner or [(f"{scope}{node.name}", node)]
        elif isinstance(node, Function):
            yield f"{scope}{node.name}", node
        elif isinstance(node, ast.If | ast.Try | ast.With):
            inner = [
                each for each in _differing(_parts(node), scope, known) if isinstance(each[1], Function | ast.ClassDef)
            ]
            yield from inner or [(scope, node)]
        else:
            yield f"{scope}{_target(node)}", node


def _text(node: ast.stmt, scope: str) -> str:
    bare = copy.deepcopy(node)
    for each in ast.walk(bare):
        if isinstance(each, Function | ast.ClassDef) and each.body and _is_docstring(each.body[0]):
            each.body = each.body[1:] or [ast.Pass()]
    return f"{scope} {ast.dump(bare)}"


def _statements(body: Iterable[ast.stmt], scope: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Every statement outside functions, with the classes around it."""
    for node in body:
        yield scope, node
        if isinstance(node, ast.ClassDef):
            yield from _statements(node.body, f"{scope}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(_parts(node), scope)


def _parts(node: ast.If | ast.Try | ast.With) -> list[ast.stmt]:
    return [*node.body, *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]


def _name_of(node: ast.stmt) -> str:
    return node.name if isinstance(node, Function | ast.ClassDef) else _target(node)


def _target(node: ast.stmt) -> str:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _edit(node: ast.stmt, mark: str, lines: list[bytes], starts: list[int]) -> Edit | None:
    """How a statement is broken; None for one that can only be broken with its file."""
    fails = f"raise RuntimeError({mark!r})".encode()
    if isinstance(node, Function):
        first = node.body[1] if _is_docstring(node.body[0]) and len(node.body) > 1 else node.body[0]
        return _before(first, fails, lines, starts)
    if isinstance(node, ast.ClassDef):
        return _before(node.body[0], b"def __new__(cls, *_, **__): " + fails, lines, starts, node.col_offset + 4)
    name = _target(node)
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if not name or value is None or (name.startswith("__") and name.endswith("__")):
        return None
    assert value.end_lineno is not None
    assert value.end_col_offset is not None
    return starts[value.lineno - 1] + value.col_offset, starts[value.end_lineno - 1] + value.end_col_offset, b"object()"


def _before(node: ast.stmt, text: bytes, lines: list[bytes], starts: list[int], indent: int = 0) -> Edit:
    """A statement put before another, on a line of its own where that begins one."""
    above = [d.lineno for d in getattr(node, "decorator_list", ())]
    line = min([node.lineno, *above])
    before = lines[line - 1][: node.col_offset]
    at = starts[line - 1] + node.col_offset
    if not before.strip():
        return at, at, text + b"\n" + before
    if indent:
        return at, at, b"\n" + b" " * indent + text + b"\n" + b" " * indent
    return at, at, text + b"; "


def _break_script(
    path: str, old: str, new: str, added: Callable[[], Spans], only: frozenset[str] | None
) -> Broken | None:
    code = Code(new)
    if code.plain == Code(old).plain:
        return None
    changed = frozenset(line for first, count in added() for line in range(first, first + count))
    typed = re.search(r"\.[cm]?tsx?$", path) is not None
    edits: list[tuple[int, str]] = []
    parts: list[BrokenPart] = []
    bodies = [*_bodies(new, code, typed=typed), *_values(new, code)]
    for body in _innermost(bodies, changed, new):
        part = BrokenPart(
            body.name, new.count("\n", 0, body.start) + 1, not re.search(rf"\b{re.escape(body.name)}\b", old)
        )
        if only is None or part.name in only:
            edits.append((body.at, body.text.format(mark_of(part))))
            parts.append(part)
    if not edits:
        return None if only is not None else Broken(old.encode(), coarse=True)
    text = new
    for at, insert in sorted(edits, reverse=True):
        text = text[:at] + insert + text[at:]
    cast = ": any" if typed else ""
    text += f"\nfunction _flyballBroken(name{cast}){cast} {{ throw new Error(name); }}\n"
    return Broken(text.encode(), tuple(parts))


class _Body(msgspec.Struct, frozen=True):
    """A function's body or a value in a script: what is put where to break it, and from where to where it goes."""

    name: str
    at: int
    start: int
    end: int
    text: str = ' _flyballBroken("{}"); '


def _bodies(text: str, code: Code, *, typed: bool) -> Iterator[_Body]:
    openings = {closing: at for at, closing in code.pairs.items()}
    for at, closing in code.pairs.items():
        since = max(0, at - 300)
        heading = _HEADING.search(text[since:at]) if text[at] == "{" else None
        if heading is None:
            continue
        begins = openings.get(since + heading.start()) if heading[0].startswith(")") else since + heading.start()
        if begins is None:
            continue
        word = re.search(r"([\w$]+)\s*$", text[max(0, begins - 100) : begins])
        line = text[text.rfind("\n", 0, begins) + 1 : begins]
        if heading[0].startswith(")") and ((word and word[1] in _NO_FUNCTION) or re.search(r"\bclass\b", line)):
            continue
        named = heading[0].startswith(")") and word and word[1] not in {"function", "async"}
        yield _Body(word[1] if word and named else _name_before(text, begins), at + 1, begins, closing)
    for found in re.finditer(r"=>(?!\s*\{)", text):
        head = text[max(0, found.start() - 300) : found.start()]
        if not code.solid[found.start()] or _CURRIED.match(text, found.end()) or (typed and _TYPED_ARROW.search(head)):
            continue
        end = text.find("\n", found.end())
        last = end if end >= 0 else len(text)
        yield _Body(_name_before(text, found.start()), found.end(), found.start(), last, ' _flyballBroken("{}") && ')


def _values(text: str, code: Code) -> Iterator[_Body]:
    """The values that stand outside every bracket; functions are found by their bodies."""
    inside = 0
    for found in re.finditer(r"[({\[]|\b(?:const|let|var)\s+([\w$]+)\s*(?::[^=;\n]+)?=(?![=>])\s*", text):
        if found[1] is None:
            inside = max(inside, code.pairs.get(found.start(), 0))
        elif found.start() >= inside and code.solid[found.start()] and not _CURRIED.match(text, found.end()):
            yield _Body(found[1], found.end(), found.start(), found.end(), "null && ")


def _name_before(text: str, at: int) -> str:
    found = re.findall(r"([\w$]+)\s*[=:](?!=|>)", text[text.rfind("\n", 0, at) + 1 : at])
    return found[0] if found else "a function"


def _innermost(bodies: list[_Body], changed: frozenset[int], text: str) -> list[_Body]:
    """The functions that hold a changed line no function within them holds."""
    spans = {body: (text.count("\n", 0, body.start) + 1, text.count("\n", 0, body.end) + 1) for body in bodies}
    chosen = []
    for line in changed:
        around = [body for body, (first, last) in spans.items() if first <= line <= last]
        if around:
            chosen.append(min(around, key=lambda body: body.end - body.start))
    return list(dict.fromkeys(chosen))
