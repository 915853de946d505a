"""A finished task still listens: feedback becomes more of what it has to do, and a rollback takes it back."""

import json
import shutil
from typing import Any

import pytest
from tests.faults.world import BRANCH, PROGRAMS, TASK, World, check_journal, check_repository

from flyball.clock import system_clock
from flyball.core.model.effects import Measure
from flyball.core.model.events import Begun, Event, Moved, TaskReopened
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal

pytestmark = [pytest.mark.slow, pytest.mark.req("C66")]
FEEDBACK = "say goodbye, too"


@pytest.fixture
def done(world: World) -> World:
    world.agent = f"sh {PROGRAMS / 'attentive_agent.sh'}"
    code, said = world.flyball(*world.run_arguments())
    assert code == 0, said
    return world


def printed(world: World, *words: str) -> Any:
    code, said = world.flyball(*words, "--json")
    assert code == 0, said
    return json.loads(said.splitlines()[-1])


def since(events: list[Event], known: int) -> list[str]:
    return [event.fact.stage for event in events[known:] if isinstance(event.fact, Moved)]


def check_both_delivered(world: World) -> None:
    state = world.state()
    assert state.decision == "DONE"
    assert [(item.id, item.text) for item in state.items] == [("AC-1", "greets the world"), ("AC-2", FEEDBACK)]
    names = world.git("ls-tree", "-r", "--name-only", BRANCH).splitlines()
    assert {"out_1.txt", "out_2.txt", "tests/ac_1.t", "tests/ac_2.t"} <= set(names)
    check_journal(world.events())
    check_repository(world)


def test_feedback_is_a_new_criterion_of_the_same_task_and_begins_with_its_test(done: World) -> None:
    before, tip, belongings = done.events(), done.git("rev-parse", BRANCH), done.belongings()
    code, said = done.flyball("reopen", TASK, FEEDBACK)
    assert code == 0, said
    events = done.events()
    assert events[: len(before)] == before
    assert since(events, len(before)) == ["RED", "GREEN", "REFACTOR", "DOCUMENT", "QA", "SHIP"]
    (reopened,) = [event.fact for event in events if isinstance(event.fact, TaskReopened)]
    assert (reopened.feedback, reopened.items) == (FEEDBACK, ("AC-2",))
    check_both_delivered(done)
    done.git("merge-base", "--is-ancestor", tip, BRANCH)
    assert done.belongings() == belongings
    measured = [
        e.fact.effect for e in events[len(before) :] if isinstance(e.fact, Begun) and isinstance(e.fact.effect, Measure)
    ]
    assert (measured[0].kind, measured[0].candidate) == ("baseline", tip)
    assert [item.id for effect in measured if effect.kind == "red" for item in effect.items] == ["AC-2"]


def test_the_report_and_the_plan_tell_of_both(done: World) -> None:
    assert done.flyball("reopen", TASK, FEEDBACK)[0] == 0
    report = done.flyball("report", TASK)[1]
    assert "- [x] **AC-1** greets the world (completed)" in report
    assert f"- [x] **AC-2** {FEEDBACK} (completed)" in report
    assert "reopen" in report.partition("## People")[2].partition("##")[0]
    assert FEEDBACK in done.git("show", f"{BRANCH}:.loop/{TASK}/report.md")
    assert f"- [x] **AC-2** {FEEDBACK}" in (done.loop / "plan.md").read_text()
    assert (done.loop / "phase-status.log").read_text().count("EXIT_SIGNAL: true\n") >= 2


def test_each_item_of_a_list_is_a_criterion_of_its_own_and_it_can_be_reopened_again(done: World) -> None:
    assert done.flyball("reopen", TASK, "Still missing:\n- say goodbye\n- [ ] wave")[0] == 0
    assert [item.text for item in done.state().items] == ["greets the world", "say goodbye", "wave"]
    code, said = done.flyball("reopen", TASK, "says goodbye twice")
    assert code == 0, said
    state = done.state()
    assert [item.id for item in state.items] == ["AC-1", "AC-2", "AC-3", "AC-4"]
    assert (state.decision, state.rounds) == ("DONE", 2)
    assert done.git("show", f"{BRANCH}:out_4.txt") == "4"
    check_journal(done.events())


@pytest.mark.req("C68")
def test_what_is_said_of_it_is_true_while_it_goes_on(done: World) -> None:
    code, said = done.flyball("reopen", TASK, FEEDBACK, "--max-turns", "5")
    assert code == 4, said
    shown = printed(done, "status", TASK)
    assert (shown["state"], shown["stage"], shown["decision"]) == ("LIMIT", "GREEN", "CONTINUE")
    assert [(item["id"], item["state"]) for item in shown["subtasks"]] == [
        ("AC-1", "completed"),
        ("AC-2", "in-progress"),
    ]
    state = json.loads((done.loop / "loop-state.json").read_text())
    assert (state["status"], state["current_phase"]) == ("paused", "GREEN")
    verdict = json.loads((done.loop / "verdict.json").read_text())
    assert verdict["decision"] == "CONTINUE"
    assert list((done.home / "trees").rglob(f"{TASK}.json")), "hooks are told that the tree is governed again"
    assert done.flyball("resume", TASK, "--max-turns", "20")[0] == 0
    check_both_delivered(done)
    assert not list((done.home / "trees").rglob(f"{TASK}.json"))


@pytest.mark.req("C67")
def test_a_cleaned_task_is_reopened_with_its_environment(world: World) -> None:
    world.agent = f"sh {PROGRAMS / 'attentive_agent.sh'}"
    world.write(".gitignore", ".venv/\n")
    world.git("add", ".gitignore")
    world.git("commit", "-q", "-m", "Ignore environments", ".gitignore")
    assert world.flyball(*world.run_arguments("--setup", "mkdir -p .venv; echo x >> .venv/times"))[0] == 0
    (world.tree / "by-hand.txt").write_text("left in the checkout\n")
    assert world.flyball("clean", TASK)[0] == 0
    code, said = world.flyball("reopen", TASK, FEEDBACK)
    assert code == 0, said
    check_both_delivered(world)
    assert (world.tree / ".venv" / "times").read_text() == "x\n"
    assert "by-hand.txt" not in world.git("ls-tree", "-r", "--name-only", BRANCH)


def test_edits_in_the_checkout_are_kept_as_a_checkpoint_and_are_not_taken_for_the_agents(done: World) -> None:
    (done.tree / "by-hand.txt").write_text("left in the checkout\n")
    assert done.flyball("reopen", TASK, FEEDBACK)[0] == 0
    check_both_delivered(done)
    assert "by-hand.txt" not in done.git("ls-tree", "-r", "--name-only", BRANCH)
    kept = next(row["sha"] for row in printed(done, "checkpoints", TASK) if row["label"] == "reopened-1")
    assert done.vault("show", f"{kept}:by-hand.txt") == "left in the checkout"


@pytest.mark.parametrize("how", ["merge", "squash"])
def test_a_merged_task_whose_branch_is_gone_goes_on(done: World, how: str) -> None:
    done.git("stash", "-q", "--include-untracked")
    done.git("merge", "-q", *(["--squash"] if how == "squash" else ["--no-ff", "-m", "Merge"]), BRANCH)
    if how == "squash":
        done.git("commit", "-q", "-m", "Squashed")
    assert printed(done, "status", TASK)["state"] == "MERGED"
    done.git("branch", "-q", "-D", BRANCH)
    main = done.git("rev-parse", "main")
    code, said = done.flyball("reopen", TASK, FEEDBACK)
    assert code == 0, said
    assert f"The branch {BRANCH} had been deleted" in said
    check_both_delivered(done)
    assert done.git("rev-parse", "main") == main
    assert printed(done, "status", TASK)["state"] == "DONE"


def test_a_branch_that_could_not_be_moved_in_the_end_is_told_before_any_turn(done: World) -> None:
    done.git("branch", "-f", BRANCH, "main")
    events = done.events()
    code, said = done.flyball("reopen", TASK, FEEDBACK)
    assert code == 2
    assert f"git branch -m {BRANCH}" in said
    assert done.events() == events
    done.git("branch", "-m", BRANCH, f"{BRANCH}-mine")
    assert done.flyball("reopen", TASK, FEEDBACK)[0] == 0
    check_both_delivered(done)


@pytest.mark.req("C63")
def test_it_is_refused_while_somebody_works_on_it_and_where_there_is_nothing_to_give_feedback_on(world: World) -> None:
    code, said = world.flyball(*world.run_arguments("--max-turns", "2"))
    assert code == 4, said
    code, said = world.flyball("reopen", TASK, FEEDBACK)
    assert code == 2
    assert f"flyball modify {TASK}" in said
    with (
        SqliteJournal.open(world.site / "journal.sqlite") as journal,
        Lease.take(journal, world.site / "locks", task_scope(TASK), this_process(system_clock.now())),
    ):
        assert world.flyball("reopen", TASK, FEEDBACK)[0] == 75
    assert world.flyball("abort", TASK)[0] == 0
    code, said = world.flyball("reopen", TASK, FEEDBACK)
    assert code == 2
    assert f"flyball rollback {TASK} --to last-good" in said
    assert world.flyball("reopen", TASK, " ")[0] == 2
    events = world.events()
    assert not [event for event in events if isinstance(event.fact, TaskReopened)]
    assert world.flyball("rollback", TASK, "--to", "last-good")[0] == 0
    assert world.flyball("modify", TASK, FEEDBACK)[0] == 0
    assert world.flyball("resume", TASK, "--max-turns", "20")[0] == 0


def test_tests_that_fail_on_what_was_delivered_are_not_excused(world: World) -> None:
    """The delivered work is measured again, and what broke since is no known failure."""
    gate = world.outside / "gate.sh"
    sound = (PROGRAMS / "tiny_gate.sh").read_text()
    gate.write_text(sound)
    world.gate = f"sh {gate} {{junit}}"
    world.agent = f"sh {PROGRAMS / 'attentive_agent.sh'}"
    assert world.flyball(*world.run_arguments())[0] == 0
    turns = world.state().turns
    gate.write_text(sound.replace("if ! (", 'if [ "$test" = tests/ac_1.t ] || ! ('))
    code, said = world.flyball("reopen", TASK, FEEDBACK)
    assert code == 3, said
    assert "1 test fails on what was delivered, 0 before the task began" in said
    assert world.state().turns == turns
    gate.write_text(sound)
    code, said = world.flyball("resume", TASK)
    assert code == 0, said
    check_both_delivered(world)


@pytest.mark.req("O45")
def test_a_task_that_is_done_is_rolled_back_and_goes_on(done: World) -> None:
    tip = done.git("rev-parse", BRANCH)
    told = printed(done, "rollback", TASK, "--to", "RED")
    assert (told["stage"], told["merged_into"]) == ("GREEN", "")
    assert done.git("rev-parse", f"{BRANCH}~1") == tip
    assert "out_1.txt" not in done.git("ls-tree", "--name-only", BRANCH)
    shown = printed(done, "status", TASK)
    assert (shown["state"], shown["next_command"]) == ("PAUSED", f"flyball resume {TASK}")
    assert done.vault("show", f"{told['undone_sha']}:out_1.txt") == "1"
    code, said = done.flyball("resume", TASK)
    assert code == 0, said
    assert done.git("show", f"{BRANCH}:out_1.txt") == "1"
    check_journal(done.events())


@pytest.mark.req("O45")
def test_a_merged_branch_is_not_rewritten_by_a_rollback_and_that_is_said(done: World) -> None:
    done.git("stash", "-q", "--include-untracked")
    done.git("merge", "-q", "--ff-only", BRANCH)
    main = done.git("rev-parse", "main")
    code, said = done.flyball("rollback", TASK, "--to", "GREEN")
    assert code == 0, said
    assert "Its work is already in main, which stays unchanged" in said
    assert done.git("rev-parse", "main") == main == done.git("rev-parse", f"{BRANCH}~1")


@pytest.mark.req("O45")
def test_a_round_can_be_taken_back_to_where_it_began_but_no_further(done: World) -> None:
    assert done.flyball("reopen", TASK, FEEDBACK, "--max-turns", "5")[0] == 4
    code, said = done.flyball("rollback", TASK, "--to", "RED")
    assert code == 2
    assert "is older than" in said
    assert "reopened-1" in said
    assert done.flyball("rollback", TASK, "--to", "reopened-1")[0] == 0
    assert done.state().main.stage == "RED"
    assert "ac_2.t" not in done.git("ls-tree", "-r", "--name-only", BRANCH)
    assert done.flyball("resume", TASK, "--max-turns", "30")[0] == 0
    check_both_delivered(done)


@pytest.mark.req("C61")
def test_a_kill_at_any_fact_of_the_new_round_changes_nothing_of_its_result(done: World) -> None:
    images = done.outside / "images"
    images.mkdir()
    code, said = done.flyball("reopen", TASK, FEEDBACK, images=images)
    assert code == 0, said
    points = [line.split() for line in (images / "points").read_text().splitlines()]
    wanted = [
        n
        for n, name, kind in points
        if kind == "new" and name in {"journal.append.after", "journal.post.after", "publish.branch.after"}
    ]
    wrong = []
    for number in wanted[::9]:
        shutil.rmtree(done.folder)
        (images / f"{int(number):04d}").rename(done.folder)
        known = done.events()
        code, said = done.flyball("resume", TASK)
        try:
            assert code == 0, said
            assert done.events()[: len(known)] == known
            check_both_delivered(done)
        except AssertionError as error:
            wrong.append(f"{number}: {error}")
    assert not wrong, "\n".join(wrong)
