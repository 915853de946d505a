"""Scripts are checked as a whole, and a mistake is named with file, place and key."""

from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from flyball.agents.scripted.script import AgentScript, ScriptInvalid, read_script

GOOD = """
steps:
  - when: {stage: RED, iteration: [1, 2]}
    do:
      - write: {tests/test_a.py: "x"}
      - append: {log.txt: "y"}
      - replace: {path: a.py, old: b, new: c}
      - delete: old.py
      - delete: [one.py, two.py]
      - run: pytest -q
      - print: working
      - stderr: hm
      - sleep: 0.5
      - report: {status: complete, exit_signal: true}
      - say: done
      - exit: 3
  - when: {role: qa}
    do: []
  - do:
      - exit: 0
"""


def test_a_script_is_read_in_order():
    script = read_script(GOOD, "demo.yaml")
    kinds = [action.kind for action in script.steps[0].do]
    assert kinds == "write append replace delete delete run print stderr sleep report say exit".split()
    assert script.steps[0].do[4].deleted == ("one.py", "two.py")


@pytest.mark.parametrize(
    ("turn", "number"),
    [
        ({"stage": "RED", "iteration": "2"}, 1),
        ({"stage": "RED", "iteration": "3", "role": "qa"}, 2),
        ({"stage": "GREEN", "iteration": "1", "role": "implementer"}, 3),
        ({}, 3),
    ],
)
def test_the_first_step_whose_conditions_hold_is_done(turn, number):
    found = read_script(GOOD, "demo.yaml").step_for(turn)
    assert found is not None
    assert found[0] == number


def test_a_turn_no_step_is_for_has_none():
    assert read_script("steps:\n- when: {stage: RED}\n  do: []\n", "s").step_for({"stage": "QA"}) is None


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("- a\n", "", "Expected `object`, got `array`"),
        ("stops: []\n", "", "unknown field `stops`"),
        ("steps: 3\n", "$.steps", "Expected `array`, got `int`"),
        ("steps:\n- do: []\n  when: {stag: RED}\n", "$.steps[0].when", "unknown field `stag`"),
        ("steps:\n- when: {iteration: one}\n  do: []\n", "$.steps[0].when.iteration", "Expected `int | array`"),
        ("steps:\n- when: {iteration: true}\n  do: []\n", "$.steps[0].when.iteration", "got `bool`"),
        ("steps:\n- when: {stage: 3}\n  do: []\n", "$.steps[0].when.stage", "Expected `str | array`"),
        ("steps:\n- when: {}\n", "$.steps[0]", "missing required field `do`"),
        ("steps:\n- do:\n  - wirte: {a: b}\n", "$.steps[0].do[0]", "unknown field `wirte`"),
        ("steps:\n- do:\n  - print: a\n    say: b\n", "$.steps[0].do[0]", "one word and its value"),
        ("steps:\n- do:\n  - write:\n      a: 1.5\n", "$.steps[0].do[0].write[...]", "Expected `str`, got `float`"),
        ("steps:\n- do:\n  - write:\n      ../a: x\n", "$.steps[0].do[0]", "does not lie in the workspace"),
        ("steps:\n- do:\n  - delete: /etc/passwd\n", "$.steps[0].do[0]", "does not lie in the workspace"),
        ("steps:\n- do:\n  - replace: {path: a, old: b}\n", "$.steps[0].do[0].replace", "missing required field `new`"),
        (
            "steps:\n- do:\n  - replace: {path: ../a, old: b, new: c}\n",
            "$.steps[0].do[0]",
            "does not lie in the workspace",
        ),
        ("steps:\n- do:\n  - sleep: long\n", "$.steps[0].do[0].sleep", "Expected `float`"),
        ("steps:\n- do:\n  - sleep: -1\n", "$.steps[0].do[0].sleep", ">= 0"),
        ("steps:\n- do:\n  - exit: 300\n", "$.steps[0].do[0].exit", "<= 255"),
        ("steps:\n- do:\n  - report: done\n", "$.steps[0].do[0].report", "Expected `object`"),
        ("steps:\n- do:\n  - run:\n", "$.steps[0].do[0].run", "Expected `str`, got `null`"),
    ],
)
def test_a_mistake_is_named_with_file_place_and_key(text, place, words):
    with pytest.raises(ScriptInvalid) as refused:
        read_script(text, "demo.yaml")
    message = str(refused.value)
    assert message.startswith("demo.yaml: ")
    assert words in message
    assert message.endswith(f" - at `{place}`" if place else message)


def test_what_is_no_yaml_is_named_with_its_line():
    with pytest.raises(ScriptInvalid, match=r"^demo\.yaml, line 1: not valid YAML"):
        read_script("steps: [", "demo.yaml")


@pytest.mark.parametrize("text", ["", "# nothing\n", b"\xff\xfe\x00", "a\x00b"])
def test_what_is_no_script_at_all_is_refused(text):
    with pytest.raises(ScriptInvalid, match=r"^demo\.yaml"):
        read_script(text, "demo.yaml")


@settings(max_examples=40)
@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_a_script_or_refused(text):
    for told in (text, *([f"steps:\n- do:\n  - print: {text}\n"] if isinstance(text, str) else [])):
        with suppress(ScriptInvalid):
            assert isinstance(read_script(told, "s"), AgentScript)
