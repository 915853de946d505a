"""The demo's script keeps to what the evaluators ask."""

from importlib.resources import files

import pytest
import yaml

from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.judging import TrackMatter, judged_passes, read_answer
from flyball.core.workflows.track.workflow import WORKFLOW


@pytest.mark.req("D40")
def test_the_judge_of_the_demo_answers_for_every_pass_that_is_judged() -> None:
    assert WORKFLOW.demo is not None
    script = yaml.safe_load((files(WORKFLOW.demo.package) / "demo" / "script.yaml").read_text("utf-8"))
    steps = {step["when"].get("role"): step["do"] for step in script["steps"]}
    (seat,) = judged_passes((Chosen("business-logic", ()),), BUILT_IN, TrackMatter("", "", ""))
    said = next(deed["say"] for deed in steps[seat.role] if "say" in deed)
    passes = read_answer(seat, said, lambda _path: None)
    assert not isinstance(passes, str), passes
