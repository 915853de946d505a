"""The scripted agent plays its script by a real process, choosing the step by what every agent is told."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.agents.conftest import A_TURN, NONCE, QUICK

from flyball.agents.run.frame import ProgramFrame
from flyball.agents.scripted.script import ScriptInvalid
from flyball.agents.scripted.scripted import ScriptedAgent, load_script
from flyball.clock import system_clock
from flyball.process import StopFlag
from flyball.workspace.sandbox import Unconfined


@pytest.fixture
def play(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()

    def played(script, number=1, **request):
        agent = ScriptedAgent(
            script.encode(),
            ProgramFrame(
                task="001-it",
                workflow="tdd",
                confine=Unconfined(),
                environment={"PATH": os.environ["PATH"]},
                clock=system_clock,
                patience=QUICK,
            ),
        )
        asked = msgspec.structs.replace(A_TURN, **request)
        folder = tmp_path / "turns" / str(number)
        return agent.turn(asked, tree=tree, folder=folder, nonce=NONCE, stop=StopFlag(), notify=lambda *_: None)

    return played


def test_edits_are_done_in_order(play, tmp_path):
    ended = play("""
steps:
  - do:
      - write: {a/b.txt: "one\\n", c.txt: "gone\\n", d/e.txt: "gone\\n"}
      - append: {a/b.txt: "two\\n"}
      - replace: {path: a/b.txt, old: one, new: ONE}
      - delete: [c.txt, d]
      - run: cat a/b.txt
""")
    assert (ended.kind, ended.final_message) == ("ok", "ONE\ntwo\n")
    assert sorted(os.listdir(tmp_path / "tree")) == ["a"]


def test_the_step_is_chosen_by_stage_role_iteration_and_turn(play):
    script = """
steps:
  - {when: {stage: RED}, do: [{say: red}]}
  - {when: {stage: GREEN, iteration: 2, turn: 7}, do: [{say: green two seven}]}
  - {when: {role: [qa, planner], subtask: AC-1}, do: [{say: judging}]}
"""
    assert play(script, 1, stage="RED").final_message == "red\n"
    assert play(script, 2, stage="GREEN", iteration=2, turn=7).final_message == "green two seven\n"
    assert play(script, 3, stage="QA", role="qa", item="AC-1").final_message == "judging\n"
    ended = play(script, 4, stage="GREEN", iteration=3)
    assert ended.kind == "crashed"
    assert "has no step for stage GREEN, role implementer, iteration 3" in ended.detail


def test_the_report_gets_the_nonce_and_may_have_a_wrong_one(play):
    assert play("steps: [{do: [{report: {exit_signal: true}}]}]", 1).claim.exit_signal
    assert not play("steps: [{do: [{report: {exit_signal: true, nonce: x}}]}]", 2).claim.exit_signal
    said = '"```flyball-report\\n{\\"nonce\\": \\"{nonce}\\", \\"verdict\\": \\"pass\\"}\\n```"'
    assert play(f"steps: [{{do: [{{say: {said}}}]}}]", 3).claim.verdict == "pass"


@pytest.mark.parametrize(
    ("action", "detail"),
    [
        (
            "run: 'echo stuck >&2; exit 4'",
            "exit status 4: scripted agent: step 1, action 1: the command ended with status 4",
        ),
        ("replace: {path: a.txt, old: b, new: c}", "No such file or directory"),
        ("delete: a.txt", "deletes a.txt, which does not exist"),
        ("exit: 9", "exit status 9"),
    ],
)
def test_what_cannot_be_done_ends_the_turn_and_says_so(play, action, detail):
    ended = play(f"steps:\n- do:\n  - {action}\n  - say: never\n")
    assert ended.kind == "crashed"
    assert detail in ended.detail
    assert "never" not in ended.final_message


def test_modules_in_the_workspace_do_not_stand_in_for_its_own(play, tmp_path):
    for name in ("yaml.py", "flyball.py", "json.py"):
        (tmp_path / "tree" / name).write_text("raise SystemExit('shadowed')\n")
    assert play("steps: [{do: [{say: fine}]}]").final_message == "fine\n"


def test_a_broken_script_is_refused_before_anything_runs(tmp_path):
    path = tmp_path / "demo.yaml"
    path.write_text("steps:\n- do:\n  - shout: x\n")
    with pytest.raises(ScriptInvalid, match=r"demo\.yaml: .*unknown field `shout` - at `\$\.steps\[0\]\.do\[0\]`"):
        load_script(path)
    with pytest.raises(ScriptInvalid, match="No such file"):
        load_script(Path(tmp_path, "absent.yaml"))
    path.write_text("steps: []\n")
    assert load_script(path) == b"steps: []\n"
