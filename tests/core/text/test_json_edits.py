"""Setting values in somebody's JSON text without writing the rest anew."""

import json

import pytest
from hypothesis import given, strategies as st

from flyball.core.text.json_edits import REMOVED, NotAnObject, with_values

PAGE = '{\n    "name": "Prices",\n    "tags": ["a",  "b"], "odd":1,\n    "loop_state": {\n        "x": {"kept": true}\n    }\n}\n'


def test_single_values_change_and_the_rest_stays_as_it_was_written():
    after = with_values(PAGE, {"name": "Other", "loop_state": {"x": {"n": 1}, "step": "FIX"}})
    assert json.loads(after)["loop_state"] == {"x": {"kept": True, "n": 1}, "step": "FIX"}
    assert '"tags": ["a",  "b"], "odd":1,' in after
    assert after.startswith('{\n    "name": "Other",')
    assert after.endswith("}\n")


def test_a_value_that_is_there_already_changes_nothing():
    assert with_values(PAGE, {"tags": ["a", "b"], "loop_state": {"x": {"kept": True}}}) == PAGE


@pytest.mark.parametrize(
    "text", ["{}", '{"a": 1}', '{"a": 1}\n', "{\n}\n", '\ufeff{"a":\t1}', '{\r\n\t"a": 1\r\n}\r\n']
)
def test_members_are_added_to_any_layout(text):
    after = with_values(text, {"b": {"c": [1, {"d": None}]}})
    assert json.loads(after.removeprefix("\ufeff"))["b"] == {"c": [1, {"d": None}]}
    assert ("\r\n" in after) == ("\r\n" in text)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in text


def test_a_member_can_be_taken_out_wherever_it_stands():
    text = '{\n  "a": 1,\n  "b\\"": {"x": 1},\n  "c": 3\n}\n'
    for name, left in (("a", ['b"', "c"]), ('b"', ["a", "c"]), ("c", ["a", 'b"'])):
        assert list(json.loads(with_values(text, {name: REMOVED}))) == left
    assert json.loads(with_values(text, {"d": REMOVED, "e": {"f": REMOVED, "g": {"h": REMOVED}}}))["e"] == {"g": {}}
    assert json.loads(with_values('{"a": 1}', {"a": REMOVED})) == {}


@pytest.mark.parametrize("text", ["[1]", "1", '"x"'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(NotAnObject):
        with_values(text, {"a": 1})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(OBJECTS, OBJECTS, st.sampled_from([None, 2, "\t"]))
def test_any_object_takes_any_values(there, values, indent):
    after = json.loads(with_values(json.dumps(there, indent=indent, ensure_ascii=False), values))
    assert after == _merged(there, values)


def _merged(there, values):
    result = dict(there)
    for key, value in values.items():
        both = isinstance(value, dict) and value and isinstance(there.get(key), dict)
        result[key] = _merged(there[key], value) if both else value
    return result
