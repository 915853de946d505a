"""Examples that criteria state, such as `slugify("Hello World") gives "hello-world"`, and whether a test states them as well."""

import ast
import re
from collections.abc import Callable, Iterable

import msgspec

from flyball.core.model.task import Item
from flyball.measures.scripts import Code
from flyball.measures.sources import is_code, parse, text_of

_STRING = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)"
_LITERAL = re.compile(f"{_STRING}|{_NUMBER}")
_CALL = re.compile(rf"\b([A-Za-z_]\w*)\(((?:{_STRING}|[^()\"'])*)\)")
_RESULT = re.compile(
    rf"[^()\"']{{0,40}}?(?:\bgives|\breturns|\byields|\bequals|\bis|==?|[-=]>|→)\W*?({_STRING}|{_NUMBER})(?=\W|$)"
)
_CONTRAST = re.compile(
    r"\b(?:instead|rather|but|currently|today|now|wrong(?:ly)?|incorrect(?:ly)?|expected|should|not|bug)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a report on a defect: the result that it states may be the wrong one."""
_WORD = re.compile(r"[A-Za-z_]\w*")


class Example(msgspec.Struct, frozen=True):
    """A call with its arguments and its result: the text, the function and the values."""

    text: str
    function: str
    values: frozenset[str]


def examples_of(item: Item) -> tuple[Example, ...]:
    """The calls with literal arguments whose result a criterion states; a call alone is only code that is mentioned."""
    found = []
    for text in (item.text, *item.acceptance):
        for call in _CALL.finditer(plain := text.replace("`", " ")):
            given = _LITERAL.findall(call[2])
            result = _RESULT.match(plain, call.end())
            if given and result and not _CONTRAST.search(plain):
                values = frozenset(map(_value, (*given, result[1])))
                found.append(Example(plain[call.start() : result.end()].strip(), call[1], values))
    return tuple(found)


def unstated_examples(items: Iterable[Item], tests: Callable[[], Iterable[tuple[str, bytes]]]) -> tuple[str, ...]:
    """The examples of some criteria that no test states: none has the function and, there or in a file of data, the values."""
    examples = [example for item in items for example in examples_of(item)]
    contents = {path: _contents(path, source) for path, source in tests()} if examples else {}
    data = frozenset().union(*(values for path, (_, values) in contents.items() if not is_code(path)))
    stated = [
        example
        for example in examples
        if any(example.function in names and example.values <= values | data for names, values in contents.values())
    ]
    return tuple(dict.fromkeys(example.text for example in examples if example not in stated))


def _contents(path: str, source: bytes) -> tuple[frozenset[str], frozenset[str]]:
    module = parse(source) if path.endswith(".py") else None
    if module is None:
        text = " ".join(Code(text_of(source)).plain)
        return frozenset(_WORD.findall(text)), frozenset(map(_value, _LITERAL.findall(text)))
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    plain = ast.unparse(module)
    constants = [node.value for node in ast.walk(module) if isinstance(node, ast.Constant)]
    values = (repr(value) for value in constants if isinstance(value, str | int | float))
    return frozenset(_WORD.findall(plain)), frozenset(map(_value, (*values, *_LITERAL.findall(plain))))


def _value(literal: str) -> str:
    """A literal however it is written: 3 is 3.0, quotes are quotes, and documents fold blanks."""
    if literal[:1] in {'"', "'"}:
        return f"'{' '.join(literal[1:-1].split())}'"
    try:
        return str(float(literal))
    except ValueError:
        return literal
