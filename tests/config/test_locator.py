import tomllib
from typing import Any

from hypothesis import given, settings, strategies as st

from flyball.config.locator import Path, line_of, lines

BARE = st.text("abcdefgh_-019", min_size=1, max_size=6)
ANY_KEY = st.one_of(BARE, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"), max_size=5))
SCALARS = st.one_of(
    st.integers(-(2**40), 2**40),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
DATA = st.dictionaries(
    ANY_KEY,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_KEY, inner, max_size=3)),
    max_size=4,
)


def string(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'


def literal_key(key: str) -> str:
    return key if key and all(c in "abcdefgh_-019" for c in key) else string(key)


class Writer:
    """Writes data as TOML in styles drawn by hypothesis, remembering on which line the statement of each path began."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.parts: list[str] = []
        self.line = 1
        self.began = 1
        self.at: dict[Path, int] = {}

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.line += text.count("\n")

    def noise(self) -> None:
        self.put(self.draw(st.sampled_from(["", "\n", "# a = [1\n", "\n\n  # ] '''\n", "\t\n"])))

    def table(self, data: dict[str, Any], path: Path) -> None:
        later = []
        for key, value in data.items():
            here = (*path, key)
            tables = isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
            if (isinstance(value, dict) or tables) and not self.draw(st.booleans()):
                later.append((here, value))
                continue
            self.noise()
            self.at[here] = self.began = self.line
            self.put(f"{literal_key(key)}{self.draw(st.sampled_from(['=', ' = ']))}")
            self.value(value, here)
            self.put(self.draw(st.sampled_from(["\n", "  # end\n", "\r\n"])))
        for here, value in later:
            self.header(here, value)

    def header(self, path: Path, value: Any) -> None:
        name = ".".join(literal_key(key) for key in path if isinstance(key, str))
        entries = value if isinstance(value, list) else [value]
        for place, entry in enumerate(entries):
            self.noise()
            self.at.setdefault(path, self.line)
            here = (*path, place) if isinstance(value, list) else path
            self.at[here] = self.line
            self.put(f"[[{name}]]\n" if isinstance(value, list) else f"[ {name} ]\n")
            self.table(entry, here)

    def value(self, value: Any, path: Path) -> None:
        if isinstance(value, dict):
            self.put("{")
            for place, (key, inner) in enumerate(value.items()):
                self.put(", " if place else " ")
                self.at[(*path, key)] = self.began
                self.put(f"{literal_key(key)} = ")
                self.value(inner, (*path, key))
            self.put("}")
        elif isinstance(value, list):
            self.put("[")
            for place, inner in enumerate(value):
                self.noise()
                self.at[(*path, place)] = self.began
                self.value(inner, (*path, place))
                self.put(",")
            self.noise()
            self.put("]")
        elif isinstance(value, str):
            self.put(self.text(value))
        else:
            self.put(str(value).lower() if isinstance(value, bool) else repr(value))

    def text(self, value: str) -> str:
        if value.isprintable() and self.draw(st.booleans()):
            escaped = value.replace("\\", "\\\\").replace('"""', '""\\"')
            return f'"""\n{escaped}"""' if not escaped.endswith('"') else string(value)
        if value.isprintable() and "'" not in value and self.draw(st.booleans()):
            return f"'{value}'"
        return string(value)


def paths(value: Any, path: Path = ()) -> set[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path}.union(*(paths(below, (*path, key)) for key, below in inner))


@settings(max_examples=40)
@given(data=DATA, draw=st.data())
def test_every_key_is_found_on_the_line_it_was_written_on(data: dict[str, Any], draw: st.DataObject) -> None:
    writer = Writer(draw.draw)
    writer.table(data, ())
    text = "".join(writer.parts)

    assert paths(tomllib.loads(text)) == paths(data)
    assert lines(text) == writer.at


SAMPLE = '''\
# settings
agent = "a"
limits.max_turns = 3

[gates]
carry = [
    "one",  # the first
    "two",
]
test = { command = "pytest", timeout = 5 }

[[steps]]
name = """
multi [line]
x = 1
"""
[[steps]]
[steps.inner]
"odd key".b = 1
'''


def test_all_ways_of_writing_a_key_are_located() -> None:
    assert line_of(SAMPLE, ("limits", "max_turns")) == 3
    assert line_of(SAMPLE, ("gates", "carry", 1)) == 6
    assert line_of(SAMPLE, ("gates", "test", "timeout")) == 10
    assert line_of(SAMPLE, ("steps", 0, "name")) == 13
    assert line_of(SAMPLE, ("steps", 1)) == 17
    assert line_of(SAMPLE, ("steps", 1, "inner", "odd key", "b")) == 19


def test_a_key_that_is_missing_is_located_at_its_table() -> None:
    assert line_of(SAMPLE, ("gates", "absent", "command")) == 5
    assert line_of(SAMPLE, ("absent",)) == 1


def test_quotation_marks_that_end_a_long_text_belong_to_it() -> None:
    text = 'a = """x"""""\nb = \'\'\'y\'\'\'\'\nc = 1\n'
    assert tomllib.loads(text)["a"] == 'x""'
    assert lines(text) == {("a",): 1, ("b",): 2, ("c",): 3}


def test_settings_nested_or_long_without_end_have_the_lines_before_them() -> None:
    endless = "first = 1\n" + 'text = """' + "\n" * 5000 + '"""\nlast = 1\n'
    assert lines(endless) == {("first",): 1}
    assert line_of(".".join(["a"] * 50_000) + " = 1\n", ("a",)) == 1
