"""dispatch: what it says of a track, and what it refuses."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.stage import told_to_run


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "conductor" / "tracks" / "prices_20260101"
    folder.mkdir(parents=True)
    (folder / "spec.md").write_text("# Pricing\nThe tiers and their screen.\n")
    (folder / "metadata.json").write_text('{"type": "feature"}')
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.req("D1", "D3")
@pytest.mark.parametrize("name", ["prices_20260101", "conductor/tracks/prices_20260101"])
def test_it_names_the_evaluators_with_their_reasons(flyball, track, name):
    done = flyball("dispatch", name, "--choose")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "ui-ux: word: screen",
        "code-quality: metadata: type feature",
        "business-logic: word: pricing; word: tier",
    ]
    told = json.loads(flyball("dispatch", name, "--choose", "--json").out)
    assert told["track"] == "prices_20260101"
    assert [each["name"] for each in told["evaluators"]] == ["ui-ux", "code-quality", "business-logic"]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "metadata.json").write_text("[1]"), ["metadata.json"]),
        (lambda folder: (folder / "metadata.json").write_text('{"evaluators": ["speed"]}'), ["metadata.json", "speed"]),
        (lambda folder: (folder / "spec.md").write_bytes(b"ok\n\xff"), ["spec.md", "line 2"]),
        (lambda folder: [path.unlink() for path in folder.iterdir()], ["neither spec.md nor metadata.json"]),
        (lambda folder: folder.rename(folder.with_name("other")), ["no track 'prices_20260101'", "There are: other."]),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(flyball, track, break_it, words):
    break_it(track)
    refused = flyball("dispatch", "prices_20260101", "--choose")
    assert refused.code == 2
    assert all(word in refused.err for word in words)


JUDGE = """#!/bin/sh
cat > /dev/null
cat <<'END'
I looked at the order.
```flyball-evaluation
{"evaluator": "business-logic", "passes": [
  {"name": "correctness", "status": "%s", "findings": [%s],
   "evidence": [{"file": "shop.py", "line": 1, "quote": "PRICE_CENTS = 900", "what": "the price"}]},
  {"name": "edge cases", "status": "n/a", "reason": "a constant takes no value"},
  {"name": "data flow", "status": "pass", "evidence": [{"file": "shop.py", "line": 1, "quote": "PRICE_CENTS", "what": "x"}]},
  {"name": "user journey", "status": "n/a", "reason": "no page"}
]}
```
END
"""
WRONG = '{"file": "shop.py", "line": 1, "quote": "PRICE_CENTS = 900", "message": "wrong price", "action": "ask sales"}'
INVENTED = (JUDGE % ("pass", WRONG)).replace('"line": 1', '"line": 40')
CONFIG = 'agent = "judge"\nsandbox = "none"\n\n[agents.judge]\ncommand = ["sh", "../judge.sh"]\n'


@pytest.fixture
def worked(repository: Path) -> Path:
    """A track that flyball did not make, worked through: one file, one commit, a plan that says so. Its folder."""
    track = repository / "conductor" / "tracks" / "prices_20260101"
    track.mkdir(parents=True)
    (track / "spec.md").write_text("# Pricing\nThe price of a pen.\n")
    (track / "metadata.json").write_text(
        '{\n\t"track_id": "prices_20260101", "odd": [1,2],\n\t"loop_state": {"max_fix_cycles": 5}\n}\n'
    )
    (repository.parent / "judge.sh").write_text(JUDGE % ("pass", ""))
    (repository / "flyball.toml").write_text(CONFIG.replace("..", str(repository.parent)))
    (repository / "conductor" / "product.md").write_text("# Product\n\n## Rules\n\n- BR-1: A pen costs 900 cents.\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Plan")
    (repository / "shop.py").write_text("PRICE_CENTS = 900\n")
    (repository / "tests").mkdir()
    (repository / "tests" / "test_shop.py").write_text("def test_br_1():\n    assert 900\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Work")
    sha = git(repository, "rev-parse", "--short", "HEAD").strip()
    (track / "plan.md").write_text(
        f"- [x] Task 1: prices <!-- {sha} -->\n  - Files: shop.py, tests/\n  - The price stands in shop.py.\n"
    )
    return track


def git(root: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def state_of(track: Path):
    return json.loads((track / "metadata.json").read_text())["loop_state"]


@pytest.mark.slow
@pytest.mark.req("D2", "D20", "D25", "D30", "D31", "D32")
def test_a_track_is_evaluated_judged_and_written_down(flyball, worked):
    assert flyball("trust", "--yes").code == 0
    done = flyball("dispatch", "prices_20260101", "--json")
    assert done.code == 0, done.out + done.err
    told = json.loads(done.out)
    assert (told["verdict"], told["incomplete"], told["next_step"]) == ("PASS", False, "BUSINESS_SYNC")
    (evaluator,) = told["evaluators"]
    assert (evaluator["name"], evaluator["chosen_by"], evaluator["verdict"]) == (
        "business-logic",
        ["word: pricing"],
        "PASS",
    )
    statuses = {each["name"]: each["status"] for each in evaluator["passes"]}
    assert statuses["correctness"] == "pass"
    assert statuses["product rules"] == "pass"
    assert statuses["user journey"] == "n/a"
    assert [each["status"] for each in told["structural"]] == ["pass", "pass", "pass", "n/a", "pass"]
    assert told["business_sync"]["required"] is True
    assert "product.md" in told["business_sync"]["documents"]
    assert "### Final Verdict: PASS ✅" in (worked / "evaluation-report.md").read_text()
    raw = (worked / "metadata.json").read_text()
    assert '"track_id": "prices_20260101", "odd": [1,2],\n' in raw, "what is not ours stays as it was written"
    state = state_of(worked)
    assert (state["current_step"], state["step_status"], state["max_fix_cycles"]) == ("BUSINESS_SYNC", "NOT_STARTED", 5)
    checkpoint = state["checkpoints"]["EVALUATE_EXECUTION"]
    assert checkpoint["evaluators_run"] == [{"evaluator": "eval-business-logic", "verdict": "PASS", "issues": []}]
    assert "fix_cycle_count" not in state
    assert not (worked / ".metadata.lock").exists()
    assert any("the same model as the executor" in note for note in told["notes"])


@pytest.mark.slow
@pytest.mark.req("D20", "D25", "D30", "D31", "D32")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (JUDGE % ("fail", WRONG), "shop.py:1: wrong price; ask sales"),
        (
            INVENTED,
            "cited no line that exists",
        ),
        ("#!/bin/sh\necho All good, PASS\n", "holds no ```flyball-evaluation block"),
        ("#!/bin/sh\nexit 9\n", "turn ended as crashed"),
    ],
    ids=["finds", "invents", "garbage", "crashes"],
)
def test_a_judge_that_fails_it_or_cannot_be_understood_is_a_fail_with_its_reason(flyball, worked, script, said):
    (worked.parents[3] / "judge.sh").write_text(script)
    assert flyball("trust", "--yes").code == 0
    done = flyball("dispatch", "prices_20260101")
    assert done.code == 3, done.out + done.err
    state = state_of(worked)
    assert (state["current_step"], state["fix_cycle_count"]) == ("FIX", 1)
    assert state["checkpoints"]["FIX"] == {"status": "NOT_STARTED", "cycle": 1}
    assert any(said in item for item in state["checkpoints"]["EVALUATE_EXECUTION"]["failure_items"]), state
    assert said in (worked / "evaluation-report.md").read_text()


@pytest.mark.slow
@pytest.mark.req("D2", "D10", "D30")
def test_only_what_is_measured_writes_nothing_and_the_structure_still_counts(flyball, worked):
    assert flyball("trust", "--yes").code == 0
    before = {path.name: path.read_bytes() for path in worked.iterdir()}
    done = flyball("dispatch", str(worked), "--measured-only", "--json")
    told = json.loads(done.out)
    assert (done.code, told["verdict"], told["incomplete"]) == (0, "PASS", True)
    assert {each["status"] for each in told["evaluators"][0]["passes"]} == {"pass", "n/a", "skipped"}
    assert {path.name: path.read_bytes() for path in worked.iterdir()} == before
    assert told["base"] == git(worked, "rev-parse", "HEAD^").strip(), "the parent of the first commit in the plan"
    assert not [note for note in told["notes"] if "committed" in note], "the track's own documents are read as they are"
    (worked.parents[2] / "late.py").write_text("x = 1\n")
    (worked / "plan.md").write_text((worked / "plan.md").read_text().replace("shop.py, ", "") + "- [ ] Task 2: more\n")
    again = flyball("dispatch", "prices_20260101", "--measured-only", "--json")
    assert again.code == 3
    assert any(note.startswith("1 uncommitted file left out (late.py)") for note in json.loads(again.out)["notes"])
    failed = {
        each["name"]: each["findings"] for each in json.loads(again.out)["structural"] if each["status"] == "fail"
    }
    assert set(failed) == {"no skipped tasks"}, "the summary names shop.py, too"


@pytest.mark.slow
@pytest.mark.req("D10")
def test_the_build_decides_and_a_commit_that_does_not_exist_fails(flyball, worked):
    root = worked.parents[2]
    (root / "flyball.toml").write_text(CONFIG + '\n[evaluators]\nbuild = "echo cannot build; exit 4"\n')
    (worked / "plan.md").write_text(
        "- [x] Task 1: prices <!-- abcdef1 -->\n  - The price stands in shop.py and tests/.\n"
    )
    assert flyball("trust", "--yes").code == 0
    done = flyball("dispatch", "prices_20260101", "--measured-only", "--json")
    assert done.code == 3
    told = json.loads(done.out)
    failed = {each["name"]: each["findings"][0]["message"] for each in told["structural"] if each["status"] == "fail"}
    assert "abcdef1" in failed["plan.md updated"]
    assert "exit 4: cannot build" in failed["build passes"]
    assert "scope alignment" in failed
    assert any("whole tree counts" in note for note in told["notes"])


@pytest.mark.slow
@pytest.mark.req("D10")
def test_the_plans_checkpoint_is_the_base_and_unplanned_files_fail(flyball, worked):
    root = worked.parents[2]
    start = git(root, "rev-parse", "HEAD").strip()
    state = {"loop_state": {"checkpoints": {"PLAN": {"commit_sha": start}}}}
    (worked / "metadata.json").write_text(json.dumps(state))
    (root / "other.py").write_text("x = 1\n")
    git(root, "add", "other.py")
    git(root, "commit", "-q", "-m", "More")
    assert flyball("trust", "--yes").code == 0
    told = json.loads(flyball("dispatch", "prices_20260101", "--measured-only", "--json").out)
    assert told["base"] == start
    (scope,) = (each for each in told["structural"] if each["name"] == "scope alignment")
    assert [each["file"] for each in scope["findings"]] == ["other.py"]


def test_without_an_agent_or_trust_it_says_what_to_do_and_writes_nothing(flyball, worked):
    before = (worked / "metadata.json").read_bytes()
    refused = flyball("dispatch", "prices_20260101")
    assert refused.code == 2
    assert "flyball trust" in refused.err
    (worked.parents[2] / "flyball.toml").unlink()
    refused = flyball("dispatch", "prices_20260101")
    assert refused.code == 2
    assert "--measured-only" in refused.err
    assert (worked / "metadata.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.req("D32")
@pytest.mark.parametrize(
    ("judge", "code", "step"), [(JUDGE % ("pass", ""), 0, "BUSINESS_SYNC"), (JUDGE % ("fail", WRONG), 3, "FIX")]
)
def test_the_exported_dispatcher_has_all_it_is_to_answer_with(flyball, worked, judge, code, step):
    """Its own text, followed word for word: what it is to pass on stands in what the command prints."""
    assert flyball("trust", "--yes").code == 0
    (worked.parents[2].parent / "judge.sh").write_text(judge)
    command, without_judge = told_to_run("dispatcher", TRACK=str(worked))
    done = flyball(*command)
    assert done.code == code, done.err
    for words in ("| eval-business-logic | word: pricing | ", "### Final Verdict: ", f"Next step: {step}"):
        assert words in done.out
    assert ("### Fix Actions" in done.out) == (step == "FIX")
    assert (worked / "evaluation-report.md").exists()
    assert state_of(worked)["current_step"] == step
    alone = flyball(*without_judge)
    assert "Next step" not in alone.out, "an incomplete evaluation leads nowhere"
