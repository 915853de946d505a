"""Values of assertions that stand in the product: an argument and the value that is expected for it, close together."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise

import msgspec

from flyball.core.text.quantities import plural
from flyball.measures.sources import called_name, is_script, parse, text_of

MOST_PAIRS = 4_000
MOST_LINES = 20
MOST_VALUES = 12
"""Values of one assertion that are looked for."""
NEAR = 2
"""Lines between an argument and its expected value."""
_ASSERTS = re.compile(
    r"assert(?:Almost|Count|List|Dict|Tuple|Set|Sequence|MultiLine)?Equals?|assertIs|assert_equal|eq_"
)
_SCRIPT_LITERAL = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n]){0,300})\1|(?<![\w.$])(-?\d+(?:\.\d+)?)(?![\w.])""")
_SCRIPT_ASSERTION = re.compile(
    r"expect\((?P<got>[^;\n]{1,400}?)\)\s*\.(?:\w+\.){0,3}(?:to(?:Be|Equal|StrictEqual|MatchObject|BeCloseTo|eql|equal)|equal|eql)\((?P<wanted>[^;\n]{1,400})"
    r"|\bassert(?:\.\w+)?\((?P<both>[^;\n]{1,400})"
)
Value = str | int | float


class Assertion(msgspec.Struct, frozen=True):
    """An argument in an assertion, the value that is expected for it, and where that stands."""

    argument: Value
    expected: Value
    file: str
    line: int
    callee: str = ""


class Assertions:
    """The assertions of the tests, by what calls are given and by what is called."""

    def __init__(self, every: Iterable[Assertion]) -> None:
        self.by_argument: dict[Value, list[Assertion]] = {}
        self.by_callee: dict[str, dict[Value, Assertion]] = {}
        for each in every:
            self.by_argument.setdefault(each.argument, []).append(each)
            if each.callee:
                self.by_callee.setdefault(each.callee, {}).setdefault(each.expected, each)


class ValuesHeld(msgspec.Struct, frozen=True):
    """Where a changed file holds the values of assertions."""

    line: int
    text: str


def assertions_in(path: str, source: bytes) -> Iterator[Assertion]:
    if is_script(path):
        yield from _script_assertions(path, text_of(source))
        return
    results: dict[str, ast.expr] = {}
    nodes = (node for node in ast.walk(parse(source) or ast.Module([], [])) if hasattr(node, "lineno"))
    for node in sorted(nodes, key=lambda node: node.lineno):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            results[node.targets[0].id] = node.value
        for got, wanted in _sides(node):
            call = results.get(got.id, got) if isinstance(got, ast.Name) else got
            callee = called_name(call) if isinstance(call, ast.Call) else ""
            yield from _pairs(_arguments(call), _python_literals(wanted), path, node.lineno, callee)
        for row in _table_rows(node):
            arguments = (each for value in row[:-1] for each in _python_literals(value))
            yield from _pairs(arguments, _python_literals(row[-1]), path, row[0].lineno)


def _pairs(
    arguments: Iterable[tuple[Value, int]],
    expected: Iterable[tuple[Value, int]],
    path: str,
    line: int,
    callee: str = "",
) -> Iterator[Assertion]:
    wanted = [value for value, _ in islice(expected, MOST_VALUES)]
    for argument, _ in islice(arguments, MOST_VALUES):
        yield from (Assertion(argument, value, path, line, callee) for value in wanted)


def _arguments(node: ast.AST) -> Iterator[tuple[Value, int]]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            for each in (*call.args, *(word.value for word in call.keywords)):
                yield from _python_literals(each)


def _sides(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    pair: tuple[ast.expr, ast.expr] | None = None
    if (
        isinstance(node, ast.Assert)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.ops[0], ast.Eq | ast.Is)
    ):
        pair = node.test.left, node.test.comparators[0]
    elif isinstance(node, ast.Call) and _ASSERTS.fullmatch(called_name(node)) and len(node.args) >= 2:
        pair = node.args[0], node.args[1]
    if pair is not None:
        yield pair
        yield pair[1], pair[0]


def _table_rows(node: ast.AST) -> Iterator[list[ast.expr]]:
    """The rows of `parametrize`: the last value of each is what is expected."""
    if not isinstance(node, ast.Call) or called_name(node) != "parametrize" or len(node.args) < 2:
        return
    table = node.args[1]
    for row in table.elts if isinstance(table, ast.List | ast.Tuple) else ():
        values = row.args if isinstance(row, ast.Call) else row.elts if isinstance(row, ast.Tuple | ast.List) else []
        if len(values) >= 2:
            yield values


def _script_assertions(path: str, text: str) -> Iterator[Assertion]:
    for number, line in enumerate(text.splitlines(), 1):
        found = _SCRIPT_ASSERTION.search(line[:2000])
        if found is None:
            continue
        if found["both"]:
            got, _, wanted = found["both"].partition("),")
        else:
            got, wanted = found["got"], found["wanted"]
        if "(" in got:
            yield from _pairs(script_literals(got), script_literals(wanted), path, number)


def _python_literals(node: ast.AST) -> Iterator[tuple[Value, int]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, Value) and _tells(each.value):
            yield each.value, each.lineno


def script_literals(text: str) -> Iterator[tuple[Value, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in _SCRIPT_LITERAL.finditer(line[:2000]):
            value = _number(found[3]) if found[3] else found[2]
            if _tells(value):
                yield value, number


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text[:300])


def _tells(value: Value) -> bool:
    """Whether a value is so special that it does not stand anywhere by chance."""
    if isinstance(value, str):
        return len(value.strip()) >= 2
    return (
        not isinstance(value, bool)
        and abs(value) > 10
        and value not in {10, 100, 1000, 10_000, 60, 24, 16, 32, 64, 128, 255, 256, 512, 1024, 3600}
    )


def find_held(path: str, before: bytes | None, after: bytes, assertions: Assertions) -> ValuesHeld | None:
    """The first of the assertions whose values a change has brought into a file, and how many more there are."""
    known = Counter(value for value, _ in _literals_of(path, before or b""))
    lines: dict[Value, list[int]] = {}
    for value, line in _literals_of(path, after):
        lines.setdefault(value, []).append(line)
    new = {value: at[:MOST_LINES] for value, at in lines.items() if len(at) > known[value]}
    return _held_pair(new, assertions) or _held_results(new, assertions)


def _held_pair(new: Mapping[Value, list[int]], assertions: Assertions) -> ValuesHeld | None:
    found: dict[tuple[Value, Value], tuple[int, Assertion]] = {}
    for argument, at in new.items():
        for each in assertions.by_argument.get(argument, ()):
            line = _nearest(at, new.get(each.expected, ()))
            if line and each.expected != argument:
                found.setdefault((argument, each.expected), (line, each))
    if not found:
        return None
    line, first = min(found.values(), key=lambda each: each[0])
    more = len(found) - 1
    rest = f", and those of {plural(more, 'other assertion')}" if more else ""
    values = f"the argument {_short(first.argument)} and the expected value {_short(first.expected)}"
    return ValuesHeld(line, f"holds {values} of an assertion ({first.file}:{first.line}){rest}")


def _held_results(new: Mapping[Value, list[int]], assertions: Assertions) -> ValuesHeld | None:
    """What is expected of two calls of the same function, side by side."""
    for callee, expected in assertions.by_callee.items():
        held = [value for value in expected if value in new]
        for first, second in pairwise(held[:MOST_VALUES]):
            line = _nearest(new[first], new[second])
            if line:
                values = f"the expected values {_short(first)} and {_short(second)}"
                place = f"{expected[first].file}:{expected[first].line}"
                return ValuesHeld(line, f"holds {values} of assertions on {callee} ({place})")
    return None


def _literals_of(path: str, source: bytes) -> Iterator[tuple[Value, int]]:
    if path.endswith(".py"):
        module = parse(source)
        return _python_literals(module) if module is not None else iter(())
    return script_literals(text_of(source)) if is_script(path) else _data_literals(text_of(source))


def _data_literals(text: str) -> Iterator[tuple[Value, int]]:
    """Whatever may be a value in a data file: quoted texts, fields between separators, numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((value, number) for value, _ in script_literals(line))
        for field in re.split(r"[,;:\t=|]", line[:2000]):
            plain = field.strip().strip("\"'")
            if _tells(plain):
                yield plain, number


def _nearest(arguments: Iterable[int], expected: Iterable[int]) -> int:
    """The line of the first argument that has its expected value close by, or 0."""
    there = set(expected)
    return next((line for line in arguments if any(line + step in there for step in range(-NEAR, NEAR + 1))), 0)


def _short(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:38]}…"
