"""`flyball monitor`: one batch at a time with a history, or a stream that remembers only itself."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.builders import Story

from flyball.core.model.batch_events import BatchJudged, HistoryImported
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal
from flyball.wiring.tools import monitoring
from flyball.wiring.tools.monitoring import Loops

FLYBALL = [sys.executable, "-m", "flyball"]


def batch(passed=(), failed=(), **more):
    failures = [{"id": item, "error": f"{item} broke"} for item in failed]
    review = {"verdict": "APPROVED" if passed else "CHANGES_REQUESTED", "approved": list(passed)}
    return json.dumps({"batch": [*passed, *failed], "review": review, "passed": passed, "failed": failures, **more})


def facts(loop="demo"):
    """What the journal holds of a loop."""
    loops = Loops.find(Path.cwd())
    with SqliteJournal.open(loops.folder / "journal.sqlite") as journal:
        record = next(record for record in journal.tasks() if record.title == loop)
        return [event.fact for event in journal.read(record.id)]


@pytest.mark.req("M32")
def test_a_batch_is_answered_by_one_line_and_the_exit_code(repository, flyball):
    done = flyball("monitor", "demo", input=batch(["a"]))
    assert (done.code, done.out, done.err) == (0, "Status: PROGRESSING | Recommendation: continue\n", "")
    for item in "bcd":
        done = flyball("monitor", "demo", input=batch(failed=[item]))
    assert (done.code, done.out) == (3, "Status: STALLED | Recommendation: retry-with-change\n")


@pytest.mark.req("M32")
@pytest.mark.req("M10")
def test_blockers_follow_on_a_second_line(repository, flyball):
    blocked = [
        {"id": "b", "type": "dependency", "description": "needs\nthe parser"},
        {"id": "c", "type": "dependency", "description": "needs b"},
    ]
    done = flyball("monitor", "demo", input=batch(["a"], blocked=blocked))
    assert done.code == 3
    assert done.out == (
        "Status: BLOCKED | Recommendation: unblock:[needs the parser]\nBlockers: needs the parser, needs b\n"
    )


@pytest.mark.req("M1")
def test_the_answer_in_json_has_the_agreed_fields(repository, flyball):
    flyball("monitor", "demo", input=batch(["a"]))
    text = "Batch: [a, b]\nReview: {verdict: APPROVED, approved: [a]}\nPassed: [a]\nFailed: [b: boom]\n"
    answer = json.loads(flyball("monitor", "demo", "--json", input=text).out)
    assert set(answer) == {
        "status", "recommendation", "cure", "confidence", "trend", "evidence", "blockers", "iteration",
    }  # fmt: skip
    assert (answer["status"], answer["iteration"], answer["trend"]) == ("PROGRESSING", 2, "declining")


@pytest.mark.req("M1")
@pytest.mark.req("M30")
@pytest.mark.req("M31")
def test_the_history_is_kept_in_the_journal_and_its_page_is_rendered_again_when_lost(repository, flyball):
    page = repository / ".loop" / "demo" / "loop-state.md"
    for number in range(3):
        flyball("monitor", "demo", input=batch([f"s{number}"]))
        page.unlink()
        page.parent.rmdir()
    flyball("monitor", "other", input=batch(failed=["x"]))
    flyball("monitor", "demo", input=batch(failed=["a"]))
    assert [fact.observation.iteration for fact in facts() if isinstance(fact, BatchJudged)] == [1, 2, 3, 4]
    text = page.read_text()
    assert "**Iteration**: 4\n" in text
    assert "| 2 | s1 | s1 |" in text
    assert len(text.splitlines()) <= 50


@pytest.mark.req("M2")
def test_a_batch_without_a_review_changes_nothing(repository, flyball):
    flyball("monitor", "demo", input=batch(["a"]))
    page = repository / ".loop" / "demo" / "loop-state.md"
    before, stamp = facts(), page.stat().st_mtime_ns
    done = flyball("monitor", "demo", "--json", input='{"batch": ["a"], "passed": ["a"]}')
    answer = json.loads(done.out)
    assert (done.code, answer["status"], answer["recommendation"]) == (3, "BLOCKED", "run-review")
    assert [blocker["type"] for blocker in answer["blockers"]] == ["missing-review"]
    assert (facts(), page.stat().st_mtime_ns, answer["iteration"]) == (before, stamp, 1)


@pytest.mark.req("M2")
def test_a_first_batch_without_a_review_makes_no_folder(repository, flyball):
    done = flyball("monitor", "demo", input="Batch: a\nPassed: a\n")
    assert done.out.splitlines() == [
        "Status: BLOCKED | Recommendation: run-review",
        "Blockers: missing-review: the batch has no review",
    ]
    assert not (repository / ".loop").exists()
    assert not Loops.find(repository).folder.exists()


@pytest.mark.req("M1")
@pytest.mark.req("M31")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        '{"batch": 3}',
        '{"batch": [], "batch": []}',
        "[1]",
        '{"batch": ["a"], "review": "APPROVED", "pased": ["a"]}',
        "Batch: a\nReview: APPROVED\nBlocked: (the key)\n",
        "Some words\nBatch: a\nReview: APPROVED\n",
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(repository, flyball, text):
    flyball("monitor", "demo", input=batch(["a"]))
    before = facts()
    done = flyball("monitor", "demo", input=text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("flyball: standard input: ")
    assert done.err.count("\n") == 1
    assert facts() == before


@pytest.mark.req("M1")
def test_a_blocker_without_a_colon_blocks(repository, flyball):
    told = "Batch: 1.3\nReview: CHANGES_REQUESTED\nBlocked: 1.3 waiting for the key\n"
    done = flyball("monitor", "demo", input=told)
    assert (done.code, done.out.splitlines()) == (
        3,
        ["Status: BLOCKED | Recommendation: unblock:[waiting for the key]", "Blockers: waiting for the key"],
    )


@pytest.mark.parametrize("name", ["../x", ".hidden", "a/b", "a\nb", "x" * 101, "", "--stream"])
def test_a_name_that_is_no_folder_of_its_own_is_refused(repository, flyball, name):
    done = flyball("monitor", "--", name, input=batch(["a"]))
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert not (repository / ".loop" / "x").exists()


def test_a_task_that_flyball_runs_itself_is_refused(repository, flyball, told):
    task = told(Story().start())
    done = flyball("monitor", task, input=batch(["a"]))
    assert done.code == 2
    assert f"flyball status {task}" in done.err


def test_a_watched_loop_is_in_the_way_of_no_task(repository, flyball):
    flyball("monitor", "nightly", input=batch(["a"]))
    flyball("monitor", "007-login", input=batch(["a"]))
    assert flyball("list").code == 0
    from flyball.documents.loop_folder import check_foreign, highest_number

    check_foreign(repository)
    assert highest_number(repository) == 7


def test_outside_a_repository_the_folder_itself_is_the_place(tmp_path, monkeypatch, flyball):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert flyball("monitor", "demo", input=batch(["a"])).code == 0
    assert json.loads(flyball("monitor", "demo", "--json", input=batch(["b"])).out)["iteration"] == 2
    assert (tmp_path / ".loop" / "demo" / "loop-state.md").exists()


@pytest.mark.req("M17")
def test_the_thresholds_are_those_of_the_configuration(repository, flyball):
    (repository / "flyball.toml").write_text("[monitor]\nfailing_batches = 2\n")
    flyball("monitor", "demo", input=batch(failed=["a"]))
    assert "STALLED" in flyball("monitor", "demo", input=batch(failed=["b"])).out
    (repository / "flyball.toml").write_text("[monitor]\nfailing_batches = 'two'\n")
    assert flyball("monitor", "demo", input=batch(failed=["c"])).code == 2
    assert len(facts()) == 2


def test_a_page_that_cannot_be_written_costs_no_verdict(repository, flyball):
    (repository / ".loop").write_text("mine")
    done = flyball("monitor", "demo", input=batch(["a"]))
    assert (done.code, done.out) == (0, "Status: PROGRESSING | Recommendation: continue\n")
    assert "the batch is kept, but its page is not there" in done.err
    assert len(facts()) == 1


def test_an_edited_page_is_kept_aside_and_told(repository, flyball):
    flyball("monitor", "demo", input=batch(["a"]))
    (repository / ".loop" / "demo" / "loop-state.md").write_text("mine")
    done = flyball("monitor", "demo", input=batch(["b"]))
    assert "loop-state.md.edited-1" in done.err
    assert (repository / ".loop" / "demo" / "loop-state.md.edited-1").read_text() == "mine"


def test_a_loop_that_another_process_holds_too_long_exits_75(repository, flyball, monkeypatch):
    flyball("monitor", "demo", input=batch(["a"]))
    monkeypatch.setattr(monitoring, "_TRIES", 2)
    folder = Loops.find(repository).folder
    with SqliteJournal.open(folder / "journal.sqlite") as journal:
        (record,) = journal.tasks()
        from flyball.clock import system_clock

        with Lease.take(journal, folder / "locks", task_scope(record.id), this_process(system_clock.now())):
            done = flyball("monitor", "demo", input=batch(["b"]))
    assert done.code == 75
    assert str(os.getpid()) in done.err
    assert len(facts()) == 1


@pytest.mark.req("M31")
@pytest.mark.e2e
def test_batches_reported_at_once_are_all_kept(repository):
    def report(number: int) -> int:
        done = subprocess.run([*FLYBALL, "monitor", "demo"], input=batch([f"s{number}"]).encode(), check=False)
        return done.returncode

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(report, range(6))) == {0}
    kept = [fact for fact in facts() if isinstance(fact, BatchJudged)]
    assert [fact.observation.iteration for fact in kept] == [1, 2, 3, 4, 5, 6]
    assert {fact.batch.batch[0] for fact in kept} == {f"s{number}" for number in range(6)}


def lines(flyball, *texts):
    done = flyball("monitor", "--stream", input="\n".join(texts))
    assert done.code == 0
    return [json.loads(line) for line in done.out.splitlines()]


RED = '{"iteration": %d, "context": 1, "gates": [{"name": "test", "passed": false, "output": "ValueError: x"}]}'


@pytest.mark.req("M33")
def test_a_bad_line_gets_an_error_and_changes_nothing(repository, flyball):
    bad = ["", "[]", "{}", '{"iteration": NaN}', '{"iteration": 1, "iteration": 2}', '{"iteration": "x"}', "\x00"]
    given = lines(flyball, RED % 1, *bad, RED % 2)
    assert [set(one) for one in given[1:-1]] == [{"error"}] * len(bad)
    assert given[1]["error"].startswith("line 2: expected an observation")
    assert [given[0], given[-1]] == lines(flyball, RED % 1, RED % 2)
    assert given[-1]["cure"] == "fresh-context"
    assert not (repository / ".loop").exists()


@pytest.mark.req("M33")
def test_a_line_too_long_is_skipped_to_its_end(repository, flyball, monkeypatch):
    monkeypatch.setattr("flyball.cli.commands.monitor.LONGEST_LINE", 200)
    long = '{"iteration": 2, "tree": "%s"}'
    given = lines(flyball, RED % 1, long % ("x" * 5000), long % "y", long % ("z" * 5000))
    assert ["error" in one for one in given] == [False, True, False, True]


@pytest.mark.req("M33")
@pytest.mark.e2e
def test_each_line_is_answered_at_once_and_bytes_that_are_no_text_are_refused(tmp_path):
    with subprocess.Popen(
        [*FLYBALL, "monitor", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        assert process.stdin
        assert process.stdout
        for raw, key in ((RED % 1).encode(), "health"), (b'{"iteration": 2, "tree": "\xff"}', "error"):
            process.stdin.write(raw + b"\n")
            process.stdin.flush()
            assert key in json.loads(process.stdout.readline())
        process.stdin.write((RED % 2).encode())
        process.stdin.close()
        assert json.loads(process.stdout.readline())["cure"] == "fresh-context"
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("words", [["monitor"], ["monitor", "demo", "--stream"]])
def test_a_name_and_the_stream_exclude_each_other(repository, flyball, words):
    done = flyball(*words, input="")
    assert done.code == 2
    assert "flyball monitor --help" in done.err


FOREIGN = """\
# Loop State

**Iteration**: 2

## History
| Iter | Attempted | Passed | Failed | Notes |
|------|-----------|--------|--------|-------|
| 1    | 1.1, 1.2  | 1.1    | 1.2    | Initial |
| 2    | 1.2       |        | 1.2    | Again  |

## Pattern Detection
- Same-error streak: 2 — TypeError in parse_row
"""


@pytest.mark.req("M34")
@pytest.mark.req("M31")
def test_a_page_of_another_monitor_is_the_history_so_far_once_and_is_named_in_the_journal(repository, flyball):
    page = repository / ".loop" / "demo" / "loop-state.md"
    page.parent.mkdir(parents=True)
    page.write_text(FOREIGN)
    told = (
        "Batch: 1.2, 1.3\nReview: CHANGES_REQUESTED, approved: 1.3\nPassed: 1.3\nFailed: 1.2 TypeError in parse_row\n"
    )
    done = flyball("monitor", "demo", "--json", input=told)
    answer = json.loads(done.out)
    assert (answer["status"], answer["iteration"]) == ("STALLED", 3)
    assert answer["evidence"] == "same error 3x: TypeError in parse_row, iterations 1, 2, 3"
    assert "the history so far was read from .loop/demo/loop-state.md: 2 iterations" in done.err
    assert "| 1 | 1.1, 1.2 | 1.1 | 1.2 | Initial |" in page.read_text()
    assert [kept.read_text() for kept in page.parent.glob("loop-state.md.edited-*")] == [FOREIGN]
    read, _ = facts()
    assert isinstance(read, HistoryImported)
    assert (read.path, read.sha256) == (".loop/demo/loop-state.md", hashlib.sha256(FOREIGN.encode()).hexdigest())
    page.write_text(FOREIGN)
    again = flyball("monitor", "demo", "--json", input=told)
    assert (json.loads(again.out)["iteration"], len(facts())) == (4, 3)
    assert "read from" not in again.err


@pytest.mark.req("M34")
def test_a_page_of_another_monitor_that_cannot_be_read_is_named_by_line_and_nothing_is_written(repository, flyball):
    page = repository / ".loop" / "demo" / "loop-state.md"
    page.parent.mkdir(parents=True)
    page.write_text(FOREIGN.replace("| 2    | 1.2       |        | 1.2    | Again  |", "| 2 | 1.2 |"))
    before = page.read_text()
    done = flyball("monitor", "demo", input=batch(["a"]))
    assert (done.code, done.out) == (2, "")
    assert ".loop/demo/loop-state.md, line 9: " in done.err
    assert "move the file away to start a new history" in done.err
    assert page.read_text() == before
    assert not Loops.find(repository).folder.exists()
