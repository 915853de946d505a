"""`flyball merge` and `run --merge`: the branch of a DONE task comes into the one that is checked out, or nothing changes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.faults.world import BRANCH, TASK, World

pytestmark = [pytest.mark.slow, pytest.mark.req("C46")]


@pytest.fixture
def clean(world: World) -> World:
    """A world whose tree is as committed."""
    world.git("reset", "-q", "--hard")
    (world.repository / "loose.txt").unlink()
    return world


@pytest.fixture
def done(clean: World) -> World:
    code, said = clean.flyball(*clean.run_arguments())
    assert code == 0, said
    return clean


def merge(world: World) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "flyball", "merge", TASK, "--json"],
        cwd=world.repository,
        env=world.environment(),
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def state(world: World) -> str:
    return str(json.loads(world.flyball("status", TASK, "--json")[1])["state"])


def typed(world: World, command: str) -> int:
    """What becomes of a command that flyball printed, typed by a person."""
    return subprocess.run(command, shell=True, cwd=world.repository, env=world.environment(), check=False).returncode


def standing(world: World) -> tuple[str, str, str]:
    return world.git("rev-parse", "HEAD"), world.git("status", "--porcelain"), world.git("for-each-ref")


def hook(world: World, name: str, script: str) -> None:
    place = world.repository / ".git" / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


def diverge(world: World, path: str = "other.txt", text: str = "mine\n") -> None:
    world.write(path, text)
    world.git("add", path)
    world.git("commit", "-q", "-m", "Mine", path)


def test_a_clean_tree_is_fast_forwarded_and_a_second_merge_says_that_it_is_done(done: World) -> None:
    code, said = merge(done)
    assert (code, said["merged"], said["into"], said["next_command"]) == (0, True, "main", "")
    assert done.git("rev-parse", "HEAD") == done.git("rev-parse", BRANCH)
    assert done.git("status", "--porcelain") == ""
    assert state(done) == "MERGED"
    before = standing(done)
    code, said = merge(done)
    assert (code, said["merged"]) == (0, True)
    assert "already merged into main" in said["reason"]
    assert standing(done) == before


def test_a_branch_that_is_not_merged_is_not_called_so_where_the_same_changes_came_another_way(done: World) -> None:
    diverge(done)
    done.git("merge", "-q", "--squash", BRANCH)
    done.git("commit", "-q", "-m", "The same, brought by another task")
    before = standing(done)
    code, said = merge(done)
    assert (code, said["merged"]) == (0, True)
    assert f"main already has the same changes as {BRANCH}" in said["reason"]
    assert "already merged" not in said["reason"]
    assert standing(done) == before


@pytest.mark.parametrize("setting", ["", "only", "false"])
def test_work_that_came_in_meanwhile_is_merged_with_the_users_hooks(done: World, setting: str) -> None:
    diverge(done)
    if setting:
        done.git("config", "merge.ff", setting)
    done.git("config", "branch.main.mergeOptions", "--squash")
    hook(done, "pre-merge-commit", f"touch {done.outside}/asked")
    code, said = merge(done)
    assert code == 0, said
    assert len(done.git("rev-list", "--parents", "-n1", "HEAD").split()) == 3
    assert (done.outside / "asked").exists()
    assert done.git("status", "--porcelain") == ""
    assert (done.repository / "other.txt").read_text() == "mine\n"


def uncommitted(world: World) -> None:
    world.write("tests/old.t", "true  # mine\n")


def conflicting(world: World) -> None:
    diverge(world, "hello.txt", "mine\n")


def detached(world: World) -> None:
    world.git("switch", "-q", "--detach")


def in_the_way(world: World) -> None:
    world.write("hello.txt", "mine, not tracked\n")


def ignored(world: World) -> None:
    (world.repository / ".git" / "info").mkdir(exist_ok=True)
    (world.repository / ".git" / "info" / "exclude").write_text("hello.txt\n")
    in_the_way(world)


def merging(world: World) -> None:
    world.git("branch", "side")
    diverge(world)
    world.git("switch", "-q", "side")
    diverge(world, "more.txt")
    world.git("merge", "-q", "--no-commit", "--no-ff", "main")


def on_it(world: World) -> None:
    world.git("switch", "-q", BRANCH)


def refusing(world: World) -> None:
    diverge(world)
    hook(world, "commit-msg", "echo 'say why' >&2; exit 1")


def deleted(world: World) -> None:
    world.git("branch", "-q", "-D", BRANCH)


@pytest.mark.parametrize(
    ("prepare", "reason", "works"),
    [
        (uncommitted, "uncommitted changes: tests/old.t", True),
        (conflicting, "conflicts with main in hello.txt", False),
        (detached, "detached HEAD", True),
        (in_the_way, "hello.txt", True),
        (ignored, "hello.txt", True),
        (merging, "a merge is in progress", None),
        (on_it, "is checked out", True),
        (refusing, "say why", None),
        (deleted, "deleted", True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_stands_in_the_way_leaves_everything_as_it_was_and_the_command_works(
    done: World, prepare: Callable[[World], None], reason: str, works: bool | None
) -> None:
    prepare(done)
    before, mine = standing(done), done.repository / "hello.txt"
    held = mine.read_text() if mine.exists() else ""
    code, said = merge(done)
    assert (code, said["merged"]) == (3, False), said
    assert reason in said["reason"]
    assert standing(done) == before
    assert (mine.read_text() if mine.exists() else "") == held
    assert (done.repository / ".git" / "MERGE_HEAD").exists() == (prepare is merging)
    if works is not None:
        assert (typed(done, said["next_command"]) == 0) is works, said
        assert works or "hello.txt" in done.git("diff", "--name-only", "--diff-filter=U"), (
            "the conflict is there to resolve"
        )
    if works:
        assert done.git("merge-base", BRANCH, "HEAD") == done.git("rev-parse", BRANCH)


def test_untracked_files_that_are_not_in_the_way_stay(done: World) -> None:
    done.write("notes.txt", "mine\n")
    assert merge(done)[0] == 0
    assert (done.repository / "notes.txt").read_text() == "mine\n"


def test_a_merge_that_a_hook_refuses_is_undone_though_flyball_was_killed(done: World) -> None:
    diverge(done)
    hook(done, "pre-merge-commit", f"touch {done.outside}/asked; sleep 2; echo no >&2; exit 1")
    before = standing(done)
    running = done.start("merge", TASK)
    while not (done.outside / "asked").exists():
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    assert done.orphans() == []
    assert standing(done) == before
    assert not (done.repository / ".git" / "MERGE_HEAD").exists()


def test_an_interrupt_waits_for_git(done: World) -> None:
    hook(done, "post-merge", f"touch {done.outside}/asked; sleep 1; touch {done.outside}/over")
    running = done.start("merge", TASK)
    while not (done.outside / "asked").exists():
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    running.communicate()
    assert (done.outside / "over").exists()
    assert done.git("rev-parse", "HEAD") == done.git("rev-parse", BRANCH)


def test_a_task_that_is_not_done_is_refused(clean: World) -> None:
    code, said = clean.flyball(*clean.run_arguments("--max-turns", "1"))
    assert code == 4, said
    code, said = merge(clean)
    assert code == 2
    assert f"{TASK} is LIMIT, not DONE, so nothing was merged. Next: flyball resume {TASK}" in said


def test_run_merges_what_is_done(clean: World) -> None:
    code, said = clean.flyball(*clean.run_arguments("--merge"))
    assert code == 0, said
    assert f"{BRANCH} is merged into main" in said
    assert "next: git merge" not in said
    assert state(clean) == "MERGED"


def test_run_leaves_a_tree_with_changes_alone_and_says_what_to_type(world: World) -> None:
    before = world.belongings()
    code, said = world.flyball(*world.run_arguments("--merge"))
    assert code == 0, said
    assert f"To merge it yourself: git stash && git merge {BRANCH} && git stash pop" in said
    assert world.belongings() == before
    world.git("reset", "-q", "--hard")
    assert "is merged into main" in world.flyball("resume", TASK)[1]
