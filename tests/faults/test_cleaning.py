"""Tidying up after finished tasks: what can be made again goes, nothing else does, and the task is none the worse for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faults.world import BRANCH, TASK, World, check_journal, check_repository

from flyball.clock import system_clock
from flyball.journal.leases import Lease, this_process
from flyball.journal.records import task_scope
from flyball.journal.sqlite import SqliteJournal
from flyball.workspace.files import remove

pytestmark = [pytest.mark.slow, pytest.mark.req("C67")]

SET_UP = "mkdir -p .venv && head -c 300000 /dev/zero > .venv/library && echo set up >> .venv/count"


@pytest.fixture
def ready(world: World) -> World:
    """A project whose environments are ignored, as they are everywhere."""
    world.write(".gitignore", ".venv/\n")
    world.git("add", ".gitignore")
    world.git("commit", "-q", "-m", "Ignore environments", ".gitignore")
    return world


@pytest.fixture
def done(ready: World) -> World:
    """A task that ended DONE, with an environment of its own."""
    code, said = ready.flyball(*ready.run_arguments("--setup", SET_UP))
    assert code == 0, said
    return ready


def folder(world: World) -> Path:
    return world.site / "tasks" / TASK


def left(world: World) -> set[str]:
    return {path.name for path in folder(world).iterdir() if not path.name.startswith(".rendered")}


def printed(world: World, *words: str) -> Any:
    code, said = world.flyball(*words, "--json")
    assert code == 0, said
    return json.loads(said)


def test_clean_frees_what_can_be_made_again_and_says_how_much(done: World) -> None:
    before, refs = printed(done, "list")[0], done.vault("for-each-ref")
    journal, belongings = done.events(), done.belongings()
    told = printed(done, "clean", TASK)
    assert told["dry_run"] is False
    (task,) = told["tasks"]
    assert (task["task"], task["state"], task["kept_as"]) == (TASK, "DONE", "")
    assert {part["what"] for part in task["removed"]} == {"checkout", "gate folder", "copies"}
    assert told["freed_bytes"] - told["baselines_bytes"] == before["disk_bytes"] > 600_000
    assert {"tree", "gate", "gate.setup", "agent.git", "ready"}.isdisjoint(left(done))
    assert {"turns", "measures", "setup"} <= left(done)
    assert done.events()[: len(journal)] == journal
    assert done.vault("for-each-ref") == refs
    assert done.belongings() == belongings
    after = printed(done, "list")[0]
    assert after["disk_bytes"] == 0
    assert {**after, "disk_bytes": 0} == {**before, "disk_bytes": 0}
    assert printed(done, "clean", TASK)["freed_bytes"] == 0


def test_a_cleaned_task_is_still_shown_compared_and_reported(done: World) -> None:
    words = (("report", TASK), ("diff", TASK), ("checkpoints", TASK))
    shown = [done.flyball(*each) for each in words]
    assert done.flyball("clean", "--finished")[0] == 0
    assert [done.flyball(*each) for each in words] == shown
    assert done.flyball("resume", TASK)[0] == 0
    assert not done.tree.exists()


def test_without_a_word_of_the_person_nothing_is_removed(done: World) -> None:
    events = done.events()
    for words in (("clean",), ("clean", "--finished", "--dry-run"), ("clean", TASK, "--dry-run")):
        code, said = done.flyball(*words)
        assert code == 0
        assert "Nothing was removed. It would free" in said
    told = printed(done, "clean")
    assert told["dry_run"] is True
    assert told["freed_bytes"] > 600_000
    assert (done.tree / "hello.txt").is_file()
    assert done.events() == events
    assert "flyball clean --finished" in done.flyball("doctor")[1]


def test_edits_that_no_checkpoint_has_are_saved_before_they_are_removed(done: World) -> None:
    (done.tree / "by-hand.txt").write_text("typed into the checkout\n")
    (done.tree / "hello.txt").write_text("changed by hand\n")
    code, said = done.flyball("clean", TASK)
    assert code == 0, said
    label = printed(done, "checkpoints", TASK)[-1]["label"]
    assert f"kept as {label}: flyball diff {TASK} {label}" in said
    commit = printed(done, "checkpoints", TASK)[-1]["sha"]
    assert done.vault("show", f"{commit}:by-hand.txt") == "typed into the checkout"
    assert done.vault("show", f"{commit}:hello.txt") == "changed by hand"
    assert not done.tree.exists()


def test_an_unfinished_task_keeps_all_it_has(world: World) -> None:
    code, said = world.flyball(*world.run_arguments("--max-turns", "2"))
    assert code == 4, said
    before = left(world)
    code, said = world.flyball("clean", TASK)
    assert code == 2
    assert f"flyball abort {TASK}" in said
    assert printed(world, "clean", "--finished")["tasks"] == []
    assert left(world) == before
    assert world.flyball("abort", TASK)[0] == 0
    assert printed(world, "clean", TASK)["tasks"][0]["state"] == "ABORTED"
    assert not world.tree.exists()


@pytest.mark.req("C63")
def test_what_a_controller_holds_is_not_removed(done: World) -> None:
    held = this_process(system_clock.now())
    with (
        SqliteJournal.open(done.site / "journal.sqlite") as journal,
        Lease.take(journal, done.site / "locks", task_scope(TASK), held),
    ):
        for words in (("clean", TASK), ("clean", TASK, "--dry-run"), ("clean", "--finished")):
            code, said = done.flyball(*words)
            assert code == 75, said
            assert str(held.pid) in said
    assert (done.tree / "hello.txt").is_file()


@pytest.mark.parametrize("gone", [("tree",), ("tree", "ready", "index", "agent.git", "gate", "gate.setup")], ids=str)
def test_a_checkout_that_somebody_removed_is_made_again_with_its_environment(
    ready: World, gone: tuple[str, ...]
) -> None:
    """Whoever frees the disk by hand, in the middle of a task, finds it going on as if nothing had been."""
    code, said = ready.flyball(*ready.run_arguments("--max-turns", "2", "--setup", SET_UP))
    assert code == 4, said
    for name in gone:
        remove(folder(ready) / name)
    code, said = ready.flyball("resume", TASK, "--max-turns", "9")
    assert code == 0, said
    assert (ready.tree / ".venv" / "library").is_file()
    assert "flyball makes it again from what was saved" in ready.flyball("logs", TASK)[1]
    check_journal(ready.events())


@pytest.mark.req("C61")
@pytest.mark.parametrize("point", ["journal.append.before:1", "journal.append.after:1"])
def test_a_kill_while_cleaning_loses_nothing(done: World, point: str) -> None:
    (done.tree / "by-hand.txt").write_text("typed into the checkout\n")
    code, _ = done.flyball("clean", TASK, kill=point)
    assert code == -9
    assert done.flyball("clean", TASK)[0] == 0
    assert not done.tree.exists()
    saved = [
        done.vault("ls-tree", "--name-only", ref) for ref in done.vault("for-each-ref", "--format=%(refname)").split()
    ]
    assert any("by-hand.txt" in names for names in saved)
    check_repository(done)
    assert done.git("rev-parse", BRANCH) == done.state().main.head


def test_journal_is_sound_after_cleaning(done: World) -> None:
    assert done.flyball("clean", TASK)[0] == 0
    check_journal(done.events())
