"""SHIP: commits in the user's name, one where that is set, pushed and put up as a pull request only where that is set."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faults.world import BRANCH, TASK, World, check_journal

pytestmark = [pytest.mark.slow, pytest.mark.req("C52")]
URL = "https://example.org/greeter/pull/7"
GH = """#!/bin/sh
printf '%s\\n' "$*" >>"{log}"
case "$1 $2" in
"pr list") printf '%s\\n' '{listed}' ;;
"pr create")
	for word; do [ "$last" = --body-file ] && cp "$word" "{log}.body"; last=$word; done
	{create}
	;;
esac
"""


def ships(world: World, *settings: str) -> None:
    """A flyball.toml of the user's, agreed to; what is typed at `run` stands beside it."""
    world.write("flyball.toml", "[ship]\n" + "\n".join(settings) + "\n")
    world.git("add", "flyball.toml")
    world.git("commit", "-q", "-m", "Ship it", "flyball.toml")
    assert world.flyball("trust", "--yes")[0] == 0


def remote(world: World, *, there: bool = True) -> Path:
    place = world.outside / "remote.git"
    if there:
        world.git("init", "-q", "--bare", str(place))
    world.git("remote", "add", "origin", str(place))
    return place


def github(world: World, *, create: str = f"echo {URL}", listed: str = "[]") -> Path:
    """A program gh that notes its arguments."""
    log, place = world.outside / "gh.log", world.outside / "bin" / "gh"
    place.parent.mkdir(exist_ok=True)
    place.write_text(GH.format(log=log, listed=listed, create=create))
    place.chmod(0o755)
    world.variables["PATH"] = f"{place.parent}:{world.environment()['PATH']}"
    return log


def on_branch(world: World, name: str) -> str:
    return world.git("show", f"{BRANCH}:.loop/{TASK}/{name}")


def shown(world: World) -> Any:
    return json.loads(world.flyball("status", "--json")[1])


@pytest.mark.req("O44")
def test_commits_carry_the_users_name_and_messages_a_maintainer_would_write(world: World):
    assert world.flyball(*world.run_arguments())[0] == 0
    names = set(world.git("log", "--format=%an <%ae> %cn <%ce>", f"main..{BRANCH}").splitlines())
    assert names == {"User <user@localhost> User <user@localhost>"}
    subjects = world.git("log", "--format=%s", f"main..{BRANCH}").splitlines()
    assert subjects == [
        "docs: report on Greet the world",
        "docs: Greet the world",
        "Greet the world",
        "tests: Greet the world",
    ]
    trailers = world.git("log", "--format=%(trailers:key=Checkpoint,valueonly,separator=%x2C)", f"main..{BRANCH}")
    assert trailers.splitlines() == [f"{each} - AC-1" for each in ("report", "DOCUMENT", "GREEN", "RED")]
    assert "- AC-1: greets the world" in world.git("log", "-1", "--format=%b", BRANCH)


def test_another_name_and_one_commit_where_that_is_set(world: World):
    ships(world, "squash = true", 'author = "The Loop <loop@example.org>"')
    assert world.flyball(*world.run_arguments())[0] == 0
    (line,) = world.git("log", "--format=%an <%ae>: %s", f"main..{BRANCH}").splitlines()
    assert line == "The Loop <loop@example.org>: Greet the world"
    assert world.git("show", f"{BRANCH}:hello.txt") == "hello, world"
    assert "Done: gates passed" in on_branch(world, "report.md")
    labels = [each["label"] for each in json.loads(world.flyball("checkpoints", "--json")[1])]
    assert {"RED", "GREEN", "DOCUMENT", "report"} <= set(labels), "each can still be gone back to"
    assert shown(world)["state"] == "DONE"
    world.git("stash", "-q")
    world.git("merge", "-q", "--ff-only", BRANCH)
    assert shown(world)["state"] == "MERGED"


def test_a_report_on_the_branch_does_not_say_done_when_the_push_failed(world: World):
    ships(world, "push = true")
    remote(world, there=False)
    code, said = world.flyball(*world.run_arguments())
    assert code == 3
    assert f"flyball resume {TASK}" in said
    assert "Done" not in on_branch(world, "report.md")
    assert "Closing: gates passed." in on_branch(world, "report.md")
    world.git("init", "-q", "--bare", str(world.outside / "remote.git"))
    assert world.flyball("resume")[0] == 0
    assert world.git("ls-remote", "origin", BRANCH).split()[0] == world.state().main.head
    assert "Done: gates passed." in (world.loop / "report.md").read_text()
    check_journal(world.events())


def test_nothing_is_pushed_or_put_up_unless_it_was_set(world: World):
    place, log = remote(world), github(world)
    assert world.flyball(*world.run_arguments())[0] == 0
    assert world.git("--git-dir", str(place), "for-each-ref") == ""
    assert not log.exists()


def test_a_pull_request_is_opened_with_the_text_flyball_wrote(world: World):
    ships(world, "pull_request = true")
    remote(world)
    log = github(world)
    code, said = world.flyball(*world.run_arguments())
    assert code == 0
    assert f"pull request {URL}" in said
    listed, created = log.read_text().splitlines()
    assert listed == f"pr list --head {BRANCH} --state open --json url"
    assert created.startswith(f"pr create --head {BRANCH} --base main --title Greet the world --body-file ")
    assert "## How it was verified" in log.with_name("gh.log.body").read_text()
    assert (shown(world)["decision"], shown(world)["pull_request"]) == ("DONE", URL)
    assert world.git("ls-remote", "origin", BRANCH)
    assert "pull request" not in on_branch(world, "report.md").lower()


@pytest.mark.parametrize(
    ("create", "why"),
    [
        ("echo no token >&2; exit 4", "ended with code 4: no token"),
        ("echo almost", "named no pull request: almost"),
        (None, "the program gh is not installed"),
    ],
)
def test_a_pull_request_that_could_not_be_opened_is_said_and_the_task_is_done(world: World, create, why):
    ships(world, "pull_request = true")
    remote(world)
    if create is not None:
        github(world, create=create)
    code, said = world.flyball(*world.run_arguments())
    assert code == 0
    assert "DONE" in said
    state = shown(world)
    assert (state["state"], state["pull_request"]) == ("DONE", "")
    assert "no pull request was opened" in state["reason"]
    report = world.flyball("report")[1]
    assert why in report
    assert URL not in report


def test_after_a_kill_the_pull_request_that_is_open_is_found_and_no_second_one_opened(world: World):
    ships(world, "pull_request = true")
    remote(world)
    log = github(world, create=f"echo {URL}; kill -9 $PPID")
    code, _ = world.flyball(*world.run_arguments())
    assert code == -9
    github(world, create="echo https://example.org/second", listed=f'[{{"url": "{URL}"}}]')
    assert world.flyball("resume")[0] == 0
    assert shown(world)["pull_request"] == URL
    assert sum(line.startswith("pr create") for line in log.read_text().splitlines()) == 1
    check_journal(world.events())


def test_rendering_again_leaves_what_the_user_merged_as_it_is(world: World):
    assert world.flyball(*world.run_arguments())[0] == 0
    world.git("stash", "-q")
    world.git("merge", "-q", "--ff-only", BRANCH)
    tracked = world.git("ls-files", f".loop/{TASK}").splitlines()
    assert f".loop/{TASK}/report.md" in tracked
    assert world.flyball("resume")[0] == 0
    assert world.git("status", "--porcelain", "-uno") == ""
    (world.loop / "report.md").unlink()
    (world.loop / "loop-state.json").unlink()
    assert world.flyball("resume")[0] == 0
    assert world.git("status", "--porcelain", "-uno") == f"D .loop/{TASK}/report.md"
    assert (world.loop / "loop-state.json").exists()


@pytest.mark.req("C68")
def test_a_branch_that_was_deleted_is_brought_back_by_the_command_that_is_named(world: World):
    assert world.flyball(*world.run_arguments())[0] == 0
    assert shown(world)["next_command"] == f"git merge {BRANCH}"
    world.git("branch", "-D", BRANCH)
    named = shown(world)["next_command"]
    assert f"{BRANCH} (deleted)" in world.flyball("list")[1]
    assert named.startswith("git branch ")
    world.git(*named.split()[1:])
    assert shown(world)["next_command"] == f"git merge {BRANCH}"
    world.git("stash", "-q", "--include-untracked")
    world.git("merge", "-q", BRANCH)
    assert shown(world)["state"] == "MERGED"


@pytest.mark.req("O3")
def test_the_branch_has_none_of_flyballs_own_files_where_that_is_set(world: World):
    ships(world, "loop_files = false")
    assert world.flyball(*world.run_arguments())[0] == 0
    assert world.git("log", "--format=%h", BRANCH, "--", ".loop").strip() == ""
    assert len(world.git("log", "--format=%h", f"HEAD..{BRANCH}").splitlines()) > 1
    assert "Done: gates passed." in world.flyball("report")[1]
    assert list((world.repository / ".loop").glob("*/report.md"))
    world.git("stash", "-q", "--include-untracked")
    world.git("merge", "-q", BRANCH)
    assert shown(world)["state"] == "MERGED"


@pytest.mark.req("V20")
def test_the_report_with_plots_is_kept_beside_the_other_one_where_that_is_set(world: World):
    ships(world, "report_html = true")
    assert world.flyball(*world.run_arguments())[0] == 0
    html = on_branch(world, "report.html")
    assert "Done: gates passed." in html
    assert '<svg class="plot' in html
    assert "<script" not in html
    assert world.flyball("report", "--format", "html")[1].rstrip().endswith("</html>")
