"""The reference page of the scripted agent and the language it describes are the same."""

import re
from pathlib import Path

from flyball.agents.scripted.script import CONDITIONS, Action, read_script

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "scripted-agent.md").read_text(encoding="utf-8")


def test_the_page_names_every_action_and_condition_and_no_other():
    assert set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) == set(Action.__struct_fields__)
    assert all(f"`{name}`" in PAGE for name in CONDITIONS)


def test_the_example_on_the_page_is_a_script():
    example = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
    script = read_script(example, "example")
    found = script.step_for({"stage": "GREEN", "iteration": "2"})
    assert found is not None
    assert [action.kind for action in found[1].do] == ["append", "run", "report"]
