"""The how-to on questions lists every question that can be asked, and no other."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import flyball

SOURCE = Path(flyball.__file__).parent
PAGE = SOURCE.parents[1] / "docs" / "how-to" / "answer-a-question.md"


def patterns() -> Iterator[str]:
    """The name of each question in the code, as an expression: a value that is put into a name is any word."""
    for path in sorted((SOURCE / "core").rglob("*.py")):
        if not re.search(r"\bQuestion\(", text := path.read_text()):
            continue
        module = ".".join(("flyball", *path.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Name(id="Question"), args=[name, *_]):
                    yield pattern(name, module)


def pattern(name: ast.expr, module: str) -> str:
    match name:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.Name(id=constant):
            value = getattr(importlib.import_module(module), constant, None)
            return re.escape(value) if isinstance(value, str) else r"[\w-]+"
        case ast.FormattedValue(value=inner):
            return pattern(inner, module)
        case ast.JoinedStr(values=parts):
            return "".join(pattern(part, module) for part in parts)
    return r"[\w-]+"


def listed() -> set[str]:
    rows = re.findall(r"^\| (`[^|]+) \|", PAGE.read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_page_lists_every_question_and_no_other() -> None:
    asked = set(patterns())
    assert len(asked) > 20
    assert [each for each in sorted(asked) if not any(re.fullmatch(each, name) for name in listed())] == []
    assert [name for name in sorted(listed()) if not any(re.fullmatch(each, name) for each in asked)] == []
