"""`flyball evaluate`: answers, exit codes, what is written and what is not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.work_folder import Work, block

from flyball import faults
from flyball.cli.support import output

ONE, TWO = "BUG-001@a1b2c3", "BUG-002@b2c3d4"
GOOD = ("--build", "pass", "--gates", "met", "--validation", "review.md")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    made = Work(tmp_path)
    others = ("Security Audit", "Performance Review", "Spec Audit")
    summaries = "".join(f"\n## {kind} Summary\n**Result:** pass\n" for kind in others)
    (tmp_path / "review.md").write_text(
        f"## Code Review Summary\n**Result:** pass\n**Findings:** Minor: 1\n{summaries}"
    )
    (tmp_path / "failed.md").write_text("## Spec Audit Summary\n**Result:** fail\n")
    monkeypatch.chdir(tmp_path)
    return made


def asked(flyball, *words: str, code: int):
    said = flyball("evaluate", "--json", *words)
    assert said.code == code, said.err
    return json.loads(said.out)


@pytest.mark.req("E7")
def test_an_empty_backlog_is_done_when_all_is_known_and_good(flyball, work):
    said = asked(flyball, *GOOD, code=0)
    assert (said["decision"], said["trigger"], said["promise"]) == ("DONE", "done", "LOOP_DONE")
    assert set(said) == set(
        "decision reason trigger next_issue blocked_on counts actionable warnings deviations promise".split()
    )


@pytest.mark.req("E7", "E10")
def test_an_empty_backlog_that_nobody_looked_at_is_not_done(flyball, work):
    said = asked(flyball, code=3)
    assert said["trigger"] == "unverified"
    assert "nobody said whether the build passes" in said["blocked_on"]


@pytest.mark.req("E7", "E12")
def test_open_issues_go_on_with_the_next_one(flyball, work):
    work.put("low.md", block(ONE, priority="low"))
    work.put("shortlist.md", block(TWO))
    said = asked(flyball, code=10)
    assert (said["decision"], said["next_issue"], said["actionable"]) == ("CONTINUE", TWO, 2)
    assert said["counts"]["shortlist.md"] == {"proposed": 1, "in_progress": 0, "blocked": 0}


@pytest.mark.req("E1")
def test_the_backlog_file_counts_too(flyball, work):
    work.put("backlog.md", block(ONE))
    assert asked(flyball, *GOOD, code=10)["next_issue"] == ONE


@pytest.mark.req("E10")
def test_only_issues_for_a_person_block_and_each_is_named(flyball, work):
    work.put("high.md", block(ONE, "proposed", "tags: [needs-input]"), block(TWO, "in-progress", "requires: windows"))
    said = asked(flyball, *GOOD, code=3)
    assert said["trigger"] == "no_actionable"
    assert said["reason"] == "2 open issues but none actionable autonomously"
    assert [each.split(":")[0] for each in said["blocked_on"]] == [ONE, TWO]


@pytest.mark.req("E10")
def test_in_progress_beside_blocked_goes_on(flyball, work):
    work.put("high.md", block(ONE, "blocked"), block(TWO, "in-progress"))
    assert asked(flyball, *GOOD, code=10)["next_issue"] == TWO


@pytest.mark.req("E10")
def test_a_failed_validation_with_nothing_queued_blocks(flyball, work):
    said = asked(flyball, *GOOD, "--validation", "failed.md", code=3)
    assert (said["trigger"], said["blocked_on"]) == ("gates_unmet", ["spec audit"])


@pytest.mark.req("E12")
def test_an_issue_that_validation_created_is_next(flyball, work):
    work.put("low.md", block(ONE, priority="low"))
    work.put("critical.md", block(TWO, priority="critical"))
    (work.root / "review.md").write_text(
        f"## Code Review Summary\n**Result:** fail\n**Issues Created:** {TWO} (critical)\n"
    )
    said = asked(flyball, *GOOD, code=10)
    assert said["next_issue"] == TWO
    assert said["reason"].startswith("Validation created 1 issue to fix")


@pytest.mark.req("E10", "E15", "E22")
def test_the_same_issue_rejected_in_three_cycles_blocks_until_a_person_resets_it(flyball, work):
    work.put("high.md", block(ONE, "in-progress"), block(TWO))
    work.state(cycles=1, current_issue=ONE, issues_completed=["X-001@a1b2c3"])
    asked(flyball, "--validation", "failed.md", code=10)
    asked(flyball, "--validation", "failed.md", code=10)
    work.state(**{**work.state_now(), "cycles": 2})
    said = asked(flyball, "--validation", "failed.md", code=10)
    assert said["next_issue"] == TWO, "what failed twice comes last"
    work.state(**{**work.state_now(), "cycles": 3})
    said = asked(flyball, "--validation", "failed.md", code=3)
    assert (said["trigger"], said["reason"]) == ("failed_3x", f"Issue {ONE} failed validation 3 times")
    assert asked(flyball, code=3)["trigger"] == "failed_3x"
    assert asked(flyball, "--reset", code=10)["next_issue"] == ONE
    assert asked(flyball, code=10)["next_issue"] == ONE


@pytest.mark.req("E10", "E15")
def test_three_cycles_in_which_nothing_was_completed_block(flyball, work):
    work.put("high.md", block(ONE))
    work.state(cycles=2)
    asked(flyball, code=10)
    work.state(**{**work.state_now(), "cycles": 3})
    said = asked(flyball, code=3)
    assert (said["trigger"], said["reason"]) == ("no_completion", "3 cycles with no completed issues")
    asked(flyball, "--reset", code=10)
    work.state(**{**work.state_now(), "cycles": 4})
    asked(flyball, code=10)


@pytest.mark.req("E13")
def test_the_cycle_limit_warns_and_then_stops_and_evaluating_counts_no_cycle(flyball, work):
    work.put("high.md", block(ONE))
    work.state(cycles=4, issues_completed=["X-001@a1b2c3"])
    said = asked(flyball, "--max-cycles", "5", code=10)
    assert said["warnings"] == ["approaching cycle limit (4/5)"]
    assert work.state_now()["cycles"] == 4
    work.state(**{**work.state_now(), "cycles": 5})
    said = asked(flyball, "--max-cycles", "5", code=3)
    assert (said["decision"], said["trigger"], said["promise"]) == ("BLOCKED", "cycle_limit", "LOOP_BLOCKED")
    asked(flyball, "--max-cycles", "0", code=10)


@pytest.mark.req("E2")
def test_a_malformed_block_is_reported_with_file_and_line_and_forbids_done(flyball, work):
    work.put("high.md", "---\nid: [oops\nstatus: completed\n---\n", block(ONE, "completed"))
    before = work.text("high.md")
    said = asked(flyball, *GOOD, code=3)
    assert said["trigger"] == "unverified"
    assert [(each["file"], each["line"]) for each in said["deviations"]] == [("high.md", 5)]
    assert work.text("high.md") == before


@pytest.mark.req("E20", "E23")
def test_the_text_has_the_known_headings_and_ends_with_the_promise(flyball, work):
    work.put("high.md", block(ONE))
    said = flyball("evaluate", *GOOD)
    assert said.code == 10
    headings = [line for line in said.out.splitlines() if line.startswith("#")]
    assert headings == ["## Loop Evaluation", "### Metrics", "### Validation Summary", "### Decision"]
    lines = said.out.splitlines()
    for line in (
        "- Cycles completed: 0",
        "- Proposed issues remaining: 1",
        "- Overall: pass",
        "- Code review: pass (1 finding)",
        "- Security audit: pass (0 findings)",
        "**CONTINUE**",
        "Decision: CONTINUE",
        "Reason: 1 actionable issue remains.",
        f"Next priority: {ONE}",
    ):
        assert line in lines
    assert lines[-1] == "<promise>LOOP_CONTINUE</promise>"


@pytest.mark.req("E20", "E23")
def test_a_failing_build_suggests_an_issue_and_says_what_blocks(flyball, work):
    said = flyball("evaluate", "--build", "fail", "--gates", "met", "--validation", "review.md")
    assert said.code == 3
    assert "Reason: Build failing with no issues to fix\n" in said.out
    assert "Blocked on: build\n" in said.out
    assert "- Create issue for build failure\n" in said.out
    assert said.out.endswith("<promise>LOOP_BLOCKED</promise>\n")


@pytest.mark.req("E10")
def test_an_error_blocks_only_when_nobody_can_recover_from_it(flyball, work):
    work.put("high.md", block(ONE))
    assert "error: disk slow" in asked(flyball, "--error", "disk slow", code=10)["warnings"]
    said = asked(flyball, "--error", "disk gone", "--unrecoverable", code=3)
    assert (said["trigger"], said["reason"]) == ("unrecoverable_error", "Error: disk gone")


@pytest.mark.req("E10")
def test_a_focus_that_needs_input_blocks_wherever_the_focus_is_named(flyball, work):
    work.put("high.md", block(ONE, "in-progress", "tags: [needs-input]"), block(TWO))
    assert asked(flyball, "--focus", ONE, code=3)["trigger"] == "needs_input"
    assert asked(flyball, code=10)["next_issue"] == TWO
    (work.agent / "focus.md").write_text(f"# Agent Focus\n\n## Current\n- Issue: {ONE}\n")
    assert asked(flyball, code=3)["trigger"] == "needs_input"
    assert "the focus NO-1 is in no issue file" in asked(flyball, "--focus", "NO-1", code=10)["warnings"]


@pytest.mark.req("E21", "E22")
def test_state_and_focus_are_written_and_nothing_else(flyball, work):
    work.put("high.md", block(ONE))
    work.state(step=3, cycles=2, completed_issues=["X-001@a1b2c3"], custom={"kept": True})
    (work.agent / "focus.md").write_bytes(b"# Agent Focus\r\n\r\n## Loop Decision\r\nold\r\n\r\n## Next\r\n- \xff\r\n")
    before = work.everything()
    asked(flyball, code=10)
    after = work.everything()
    assert {name for name in after if after[name] != before.get(name)} == {
        ".work/agent/orchestrator-state.json",
        ".work/agent/focus.md",
    }
    state = work.state_now()
    assert (state["step"], state["custom"], state["cycles"]) == (3, {"kept": True}, 2)
    assert (state["last_decision"], state["next_issue_hint"]) == ("CONTINUE", ONE)
    focus = after[".work/agent/focus.md"]
    assert focus.startswith(b"# Agent Focus\r\n\r\n## Loop Decision\r\n\r\nDecision: CONTINUE\r\nReason: ")
    assert focus.endswith(b"\r\n\r\n## Next\r\n- \xff\r\n")


@pytest.mark.req("E22")
def test_the_decision_is_on_disk_before_the_promise_is_printed(flyball, work, monkeypatch):
    work.put("high.md", block(ONE))
    seen: list[str] = []
    put = output.put
    monkeypatch.setattr(faults, "point", seen.append)

    def printed(text: str) -> None:
        seen.append("printed")
        put(text)

    monkeypatch.setattr("flyball.cli.commands.evaluate.put", printed)
    flyball("evaluate")
    assert seen.count("work.write.after") == 2
    assert seen[-1] == "printed"


@pytest.mark.req("E22")
def test_a_dry_run_writes_nothing(flyball, work):
    work.put("high.md", block(ONE))
    (work.agent / "orchestrator-state.json").write_text("{broken")
    before = work.everything()
    asked(flyball, "--dry-run", code=10)
    assert work.everything() == before


@pytest.mark.req("E6")
def test_an_unreadable_state_is_kept_aside_and_reported(flyball, work):
    work.put("high.md", block(ONE))
    path = work.agent / "orchestrator-state.json"
    for broken, kept in ((b"{broken", ".bak"), (b"[1]", ".bak-2"), (b"\xff\xfe", ".bak-3")):
        path.write_bytes(broken)
        said = asked(flyball, code=10)
        assert "orchestrator-state.json cannot be read" in said["warnings"][0]
        assert Path(f"{path}{kept}").read_bytes() == broken
        assert work.state_now()["last_decision"] == "CONTINUE"


FOUR_SHAPES = {
    "code": {
        "step": 4,
        "last_issue": ONE,
        "cycles": 2,
        "completed_issues": ["BUG-000@a1b2c3"],
        "start_time": "2026-01-05T10:00:00Z",
        "last_update": "2026-01-05T11:00:00Z",
    },
    "orchestrator": {
        "phase": "validation",
        "subagent": "code-reviewer",
        "current_issue": ONE,
        "step": 3,
        "cycles": 2,
        "issues_completed_session": ["BUG-000@a1b2c3"],
        "issues_created_session": [],
        "prepared_context_hash": "x",
    },
    "do-work": {
        "session_id": "sess-2026-01-05-x",
        "started_at": "2026-01-05T10:00:00Z",
        "iteration": 2,
        "phase": "evaluate",
        "current_issue": {"id": ONE},
        "issues_completed": 1,
        "issues_blocked": 0,
        "issues_created": 0,
    },
    "evaluator": {
        "last_decision": "CONTINUE",
        "last_decision_reason": "r",
        "last_decision_time": "t",
        "cycles": 2,
        "next_issue_hint": ONE,
        "issues_completed": ["BUG-000@a1b2c3"],
        "consecutive_failures": 0,
    },
}


@pytest.mark.req("E6", "E13")
@pytest.mark.parametrize("shape", FOUR_SHAPES)
def test_a_state_of_each_shape_keeps_its_keys_and_its_limit_over_evaluations(flyball, work, shape):
    before = {**FOUR_SHAPES[shape], "max_cycles": 3, "theirs": {"kept": [1]}}
    counter = "iteration" if "iteration" in before else "cycles"
    work.put("high.md", block(ONE))
    work.state(**before)
    for _ in range(2):
        said = asked(flyball, code=10)
        assert any("(2/3)" in warning for warning in said["warnings"]), said["warnings"]
    after = work.state_now()
    assert {key: after[key] for key in before if not key.startswith(("last_decision", "next_"))} == {
        key: value for key, value in before.items() if not key.startswith(("last_decision", "next_"))
    }
    assert {"cycles", "iteration"} & set(after) == {counter}
    work.state(**{**after, counter: 3})
    assert asked(flyball, code=3)["trigger"] == "cycle_limit"


@pytest.mark.req("E32")
def test_a_missing_constitution_is_a_warning(flyball, work):
    (work.root / ".work" / "constitution.md").unlink()
    work.put("high.md", block(ONE))
    assert "constitution" in asked(flyball, code=10)["warnings"][0]


def test_the_folder_is_found_from_below_and_by_root(flyball, work, monkeypatch, tmp_path):
    work.put("high.md", block(ONE))
    below = work.root / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert asked(flyball, code=10)["next_issue"] == ONE
    monkeypatch.chdir(tmp_path.parent)
    assert asked(flyball, "--root", str(work.root), code=10)["next_issue"] == ONE


@pytest.mark.req("E7")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--root", "nowhere"), "There is no folder nowhere; expected the folder nowhere/.work/agent/issues."),
        (("--validation", "missing.md"), "missing.md cannot be read"),
        (
            ("--validation", "unfilled.md"),
            "unfilled.md, line 2: Result is 'pass | warn | fail'; expected pass, warn or fail.",
        ),
        (("--validation", "noise.md"), "noise.md: no `## … Summary`"),
        (("--input", "missing.json"), "missing.json cannot be read"),
        (("--input", "broken.json"), "broken.json, line 2: "),
        (("--input", "wrong.json"), "wrong.json, line 2: invalid enum value 'open'"),
        (("--input", "unknown.json"), "object contains unknown field isues"),
        (("--input", "wrong.json", "--build", "pass"), "--input holds the whole situation"),
    ],
)
def test_bad_input_is_one_sentence_with_exit_2_and_nothing_written(flyball, work, words, said):
    (work.root / "unfilled.md").write_text("## Code Review Summary\n**Result:** pass | warn | fail\n")
    (work.root / "noise.md").write_text("fine\n")
    (work.root / "broken.json").write_text('{\n"build": "pass",\n')
    (work.root / "wrong.json").write_text('{"backlog": {"issues": [\n{"id": "A", "status": "open"}]}}')
    (work.root / "unknown.json").write_text('{"isues": []}')
    before = work.everything()
    done = flyball("evaluate", *words)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.strip().splitlines()) == 1
    assert said in done.err
    assert work.everything() == before


@pytest.mark.req("E7")
def test_an_option_that_is_none_is_refused_in_one_sentence(work):
    command = [sys.executable, "-m", "flyball", "evaluate", "--build", "maybe"]
    done = subprocess.run(command, cwd=work.root, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'maybe' is not one of 'pass', 'fail', 'unknown'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.req("E7")
def test_a_whole_situation_is_taken_from_stdin_or_a_file(flyball, work):
    situation = {
        "backlog": {"issues": [{"id": ONE, "file": "high.md"}]},
        "session": {"cycles": 4, "max_cycles": 5, "completed": ["X"]},
        "build": "pass",
    }
    before = work.everything()
    said = flyball("evaluate", "--json", "--input", "-", input=json.dumps(situation))
    assert said.code == 10
    answer = json.loads(said.out)
    assert (answer["next_issue"], answer["warnings"]) == (ONE, ["approaching cycle limit (4/5)"])
    assert work.everything() == before
    (work.root / "situation.json").write_text(json.dumps(situation))
    assert asked(flyball, "--input", "situation.json", code=10) == answer


@pytest.mark.req("E10")
def test_a_critical_count_in_a_security_audit_blocks_whatever_its_result_says(flyball, work):
    audit = {"kind": "Security audit", "result": "pass", "findings": {"critical": 1}}
    said = flyball("evaluate", "--json", "--input", "-", input=json.dumps({"validations": [audit]}))
    assert said.code == 3
    assert json.loads(said.out)["trigger"] == "critical_security"


def test_folders_that_are_links_are_refused(flyball, work, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    work.agent.rename(elsewhere / "agent")
    work.agent.symlink_to(elsewhere / "agent")
    said = flyball("evaluate")
    assert said.code == 2
    assert "is not a plain folder" in said.err
    assert not (elsewhere / "agent" / "focus.md").exists()


@pytest.mark.req("E6", "E10")
@pytest.mark.parametrize(
    "state",
    [
        {"errors": ["disk gone"], "unrecoverable": True},
        {"errors": {"list": ["disk gone"], "unrecoverable": True}},
        {"errors": [{"message": "disk gone", "unrecoverable": True}]},
    ],
)
def test_errors_of_the_state_file_count_like_those_that_were_typed(flyball, work, state):
    work.put("high.md", block(ONE))
    (work.agent / "orchestrator-state.json").write_text(json.dumps(state))
    said = asked(flyball, code=3)
    assert (said["trigger"], said["reason"]) == ("unrecoverable_error", "Error: disk gone")
    kept = json.loads((work.agent / "orchestrator-state.json").read_text())
    assert {name: kept[name] for name in state} == state
    (work.agent / "orchestrator-state.json").write_text('{"errors": ["disk slow"]}')
    assert "error: disk slow" in asked(flyball, code=10)["warnings"]


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("field", "code"),
    [("environment: windows", 3), ("environment: [linux, macos]", 10), ("tags: [environment:windows]", 3)],
)
def test_the_environment_an_issue_names_decides_whether_it_is_actionable_here(flyball, work, monkeypatch, field, code):
    monkeypatch.setattr(sys, "platform", "linux")
    work.put("high.md", block(ONE, "proposed", field))
    asked(flyball, code=code)


@pytest.mark.req("E20")
def test_the_metrics_count_the_issues_that_the_reason_says_validation_created(flyball, work):
    work.put("critical.md", block(TWO, priority="critical"))
    (work.root / "review.md").write_text(
        f"## Code Review Summary\n**Result:** fail\n**Issues Created:** {TWO} (critical)\n"
    )
    text = flyball("evaluate", *GOOD).out
    assert "- Issues created this session: 1" in text
    assert "Validation created 1 issue" in text
