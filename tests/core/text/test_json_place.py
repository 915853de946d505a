"""Where in a JSON text a path leads."""

import pytest

from flyball.core.text.json_place import line_of

TEXT = '{\n "a": [1,\n  {"b}": "\\"", "c":\n   [true, null]}],\n "d": {}\n}'


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("$", 1),
        ("$.a", 2),
        ("$.a[0]", 2),
        ("$.a[1]", 3),
        ("$.a[1].c", 4),
        ("$.a[1].c[1]", 4),
        ("$.d", 5),
        ("$.d.x", 5),
        ("$.e", 1),
    ],
)
def test_a_path_leads_to_its_line_or_as_far_as_it_goes(path, line):
    assert line_of(TEXT, path) == line


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a": tru}'])
def test_what_is_no_json_has_no_lines(text):
    assert line_of(text, "$.b[9]") == 0
