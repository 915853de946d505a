"""What people and programs do to the files while nobody looks: damage is named, what can be healed is, nothing is overwritten."""

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
from tests.faults.world import BRANCH, TASK, TDD_ITERATIONS, Result, World, check_journal

pytestmark = pytest.mark.slow


def interrupted(world: World, flag: Path) -> None:
    """A task whose controller was killed in the middle of its first turn."""
    process = world.begin(flag)
    process.kill()
    world.said(process)


def held(world: World) -> tuple[Path, Path]:
    """Let the first turn wait: the file it makes when it waits, and the one it waits for."""
    go = world.outside / "go"
    return world.misbehave("hold", go), go


@pytest.mark.req("C62")
def test_a_damaged_journal_is_named_and_never_overwritten(world: World) -> None:
    interrupted(world, world.misbehave("brood"))
    journal = world.site / "journal.sqlite"
    with sqlite3.connect(journal) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (place,) = connection.execute("SELECT min(seq) FROM events WHERE body LIKE '%turn/1%'").fetchone()
        connection.execute("UPDATE events SET body = replace(body, 'turn/1', 'turn/7') WHERE seq = ?", (place,))
    connection.close()
    before = journal.read_bytes()
    code, said = world.flyball("resume")
    assert code == 2, said
    assert f"is damaged: event {place}" in said
    assert "Traceback" not in said
    assert journal.read_bytes() == before


@pytest.mark.req("C62")
def test_a_byte_flipped_in_the_journals_file_is_noticed(world: World) -> None:
    interrupted(world, world.misbehave("brood"))
    journal = world.site / "journal.sqlite"
    with sqlite3.connect(journal) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    raw = bytearray(journal.read_bytes())
    place = raw.rindex(b'"session.started"') + 3
    raw[place] ^= 0x01
    journal.write_bytes(raw)
    code, said = world.flyball("resume")
    assert code == 2, said
    assert "damaged" in said
    assert "Traceback" not in said


def test_foreign_things_in_the_place_of_the_loop_folder_are_refused_and_left_alone(world: World) -> None:
    world.write(".loop", "somebody else's\n")
    code, said = world.flyball(*world.run_arguments())
    assert code == 2, said
    assert ".loop is not a folder" in said
    assert (world.repository / ".loop").read_text() == "somebody else's\n"
    assert "Traceback" not in said


def test_a_foreign_file_in_the_loop_folder_is_left_alone(world: World) -> None:
    world.write(".loop/notes.txt", "mine\n")
    code, said = world.flyball(*world.run_arguments())
    assert code == 2, said
    assert "holds notes.txt" in said
    assert not world.events()
    assert (world.repository / ".loop" / "notes.txt").read_text() == "mine\n"


def test_a_loop_folder_deleted_during_the_run_is_rendered_again_whole(world: World) -> None:
    flag, go = held(world)
    process = world.begin(flag)
    shutil.rmtree(world.repository / ".loop")
    go.touch()
    assert "DONE" in world.said(process)
    assert (world.loop / "phase-status.log").read_text().count("---PRP_PHASE_STATUS---") == TDD_ITERATIONS + 1
    assert (world.loop / "loop-state.json").exists()


def test_a_loop_folder_deleted_after_the_end_is_rendered_again_by_resume(world: World) -> None:
    assert world.flyball(*world.run_arguments())[0] == 0
    rendered = {p.name: p.read_text() for p in world.loop.iterdir()}
    shutil.rmtree(world.repository / ".loop")
    assert world.flyball("resume", TASK)[0] == 0
    assert {p.name: p.read_text() for p in world.loop.iterdir()} == rendered


@pytest.mark.req("C61")
def test_a_tasks_checkout_deleted_between_runs_is_made_again_from_the_vault(world: World) -> None:
    flag, _ = held(world)
    interrupted(world, flag)
    shutil.rmtree(world.tree)
    said = world.finish()
    state = world.state()
    assert (state.decision, state.iterations) == ("DONE", TDD_ITERATIONS), said
    check_journal(world.events())


@pytest.mark.req("C61")
def test_work_outlives_the_users_git_folder_and_resume_says_what_to_do(world: World) -> None:
    flag, go = held(world)
    process = world.begin(flag)
    shutil.move(world.repository / ".git", world.outside / "git")
    go.touch()
    said = world.said(process)
    assert process.returncode in (1, 2, 3), said
    assert "Traceback" not in said
    saved = world.state().checkpoints
    assert "ac_1_greets.t" in world.vault("ls-tree", "-r", "--name-only", saved[-1].commit)
    code, said = world.flyball("resume")
    assert code == 2, said
    assert "git" in said
    assert "Traceback" not in said
    shutil.move(world.outside / "git", world.repository / ".git")
    world.finish()
    assert world.state().decision == "DONE"


@pytest.mark.req("C61")
def test_a_user_who_commits_and_switches_branches_during_the_run_does_no_harm(world: World) -> None:
    flag, go = held(world)
    process = world.begin(flag)
    world.git("commit", "-qam", "mine, meanwhile")
    world.git("switch", "-q", "-c", "elsewhere")
    theirs = world.belongings()
    go.touch()
    said = world.said(process)
    assert process.returncode == 0, said
    assert world.belongings() == theirs
    assert world.git("branch", "--show-current") == "elsewhere"
    assert world.git("merge-base", "main", BRANCH) == world.git("rev-parse", "main~1")


@pytest.mark.req("C61")
def test_a_user_who_checks_out_the_tasks_branch_during_the_run_blocks_only_its_publication(world: World) -> None:
    world.git("commit", "-qam", "tidy")
    flag = world.outside / "measuring"
    world.gate += f" {flag}"
    process = world.start(*world.run_arguments())
    while not world.git("branch", "--list", BRANCH):
        assert process.poll() is None
        if flag.exists():
            break
    process.kill()
    world.said(process)
    world.git("branch", "-f", BRANCH, "main")
    world.git("switch", "-q", BRANCH)
    theirs = world.belongings()
    code, said = world.flyball("resume")
    assert code == 3, said
    assert f"The branch {BRANCH} was expected absent" in said
    assert world.belongings() == theirs
    assert world.git("rev-parse", BRANCH) == world.git("rev-parse", "main")
    kept = world.state().checkpoints[-1]
    assert "hello.txt" in world.vault("ls-tree", "-r", "--name-only", kept.commit)
    world.git("switch", "-q", "main")
    world.git("branch", "-q", "-D", BRANCH)
    world.finish()
    assert world.git("rev-parse", BRANCH) == world.state().main.head


@pytest.mark.req("C63")
def test_a_lock_file_deleted_during_the_run_costs_nothing(world: World) -> None:
    """The epoch of the journal, not the file, refuses whoever is no longer in charge."""
    flag, go = held(world)
    process = world.begin(flag)
    for lock in (world.site / "locks").iterdir():
        lock.unlink()
    go.touch()
    said = world.said(process)
    assert process.returncode == 0, said
    assert world.state().decision == "DONE"
    check_journal(world.events())


def test_everything_flyball_keeps_is_readable_by_its_owner_alone(world: World) -> None:
    assert world.flyball(*world.run_arguments())[0] == 0
    assert stat.S_IMODE(world.site.stat().st_mode) & 0o077 == 0
    assert Result.of(world).decision == "DONE"
    assert os.access(world.site, os.W_OK)
