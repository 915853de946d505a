"""Scripts are checked as a whole, and a mistake is named with file, line and key."""

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


def test_a_script_is_read_in_order_with_its_lines():
    script = read_script(GOOD, "demo.yaml")
    assert [step.line for step in script.steps] == [3, 17, 19]
    kinds = [action.kind for action in script.steps[0].actions]
    assert kinds == "write append replace delete delete run print stderr sleep report say exit".split()
    assert script.steps[0].actions[4].value == ("one.py", "two.py")


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        ({"stage": "RED", "iteration": "2"}, 3),
        ({"stage": "RED", "iteration": "3", "role": "qa"}, 17),
        ({"stage": "GREEN", "iteration": "1", "role": "implementer"}, 19),
        ({}, 19),
    ],
)
def test_the_first_step_whose_conditions_hold_is_done(turn, line):
    step = read_script(GOOD, "demo.yaml").step_for(turn)
    assert step is not None
    assert step.line == line


def test_a_turn_no_step_is_for_has_none():
    assert read_script("steps:\n- when: {stage: RED}\n  do: []\n", "s").step_for({"stage": "QA"}) is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("steps: [", 1, "not valid YAML"),
        ("- a\n", 1, "the script is a list; expected keys"),
        ("stops: []\n", 1, "unknown key `stops` in the script; expected one of steps"),
        ("steps: 3\n", 1, "`steps` is '3'; expected a list"),
        ("steps:\n- do: []\n  when: {stag: RED}\n", 3, "unknown key `stag` in `when`; expected one of stage, role"),
        ("steps:\n- when: {iteration: one}\n  do: []\n", 2, "`iteration` is one; expected a whole number"),
        ("steps:\n- when: {iteration: true}\n  do: []\n", 2, "`iteration` is true; expected a whole number"),
        ("steps:\n- when: {stage: 3}\n  do: []\n", 2, "`stage` is 3; expected text"),
        ("steps:\n- when: {}\n", 2, "`do` is missing"),
        ("steps:\n- do:\n  - wirte: {a: b}\n", 3, "unknown key `wirte` in an action; expected one of write, append"),
        ("steps:\n- do:\n  - print: a\n    say: b\n", 3, "found 2: print, say"),
        ("steps:\n- do:\n  - print: a\n    print: b\n", 4, "`print` appears twice"),
        ("steps:\n- do:\n  - write:\n      a: 1.5\n", 4, "`write` of a is 1.5; expected text; put it in quotes"),
        ("steps:\n- do:\n  - write:\n      ../a: x\n", 4, "does not lie in the workspace"),
        ("steps:\n- do:\n  - delete: /etc/passwd\n", 3, "does not lie in the workspace"),
        ("steps:\n- do:\n  - replace: {path: a, old: b}\n", 3, "lacks new"),
        ("steps:\n- do:\n  - sleep: long\n", 3, "expected a number of seconds"),
        ("steps:\n- do:\n  - sleep: -1\n", 3, "expected a number of seconds from 0"),
        ("steps:\n- do:\n  - exit: 300\n", 3, "from 0 to 255"),
        ("steps:\n- do:\n  - report: done\n", 3, "`report` is 'done'; expected keys with values"),
        ("steps:\n- do:\n  - run:\n", 3, "`run` is nothing; expected text"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(text, line, words):
    with pytest.raises(ScriptInvalid) as refused:
        read_script(text, "demo.yaml")
    assert str(refused.value).startswith(f"demo.yaml, line {line}: ")
    assert words in str(refused.value)


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
