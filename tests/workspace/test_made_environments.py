"""In place no environment that an agent makes is one that gates use, after a kill neither."""

import os
import subprocess

import pytest

from flyball.folders import users_environments
from flyball.wiring.run.confining import lent_environments
from flyball.workspace.sandbox import Confined, Unavailable, available

pytestmark = pytest.mark.req("C43")
NAMES = (".venv", "node_modules")


@pytest.fixture
def agent(user, home):
    """Runs a shell script as an agent in the user's tree, in the sandbox."""
    program = available()
    if isinstance(program, Unavailable):
        pytest.skip(program.reason)

    def run(here, script, use="disposable"):
        confine = Confined(
            program,
            user.root,
            (home,),
            git_dirs=here.git_dirs,
            nested=here.guard_nested,
            environments=lent_environments(here.repository, NAMES),
            environment_names=NAMES,
            copies=here.environment_copies,
        )
        argv, folder, env = confine(["/bin/sh", "-ec", script], tree=user.root, env=dict(os.environ), environments=use)
        subprocess.run(argv, cwd=folder, env=env, check=True)

    return run


@pytest.fixture
def here(user, open_workspace, at):
    user.write(".gitignore", "node_modules\n.venv\n")
    user.write("packages/a/a.js", "x\n")
    user.commit()
    (user.root / "packages" / "a" / "node_modules").mkdir()
    (user.root / "packages" / "a" / "node_modules" / "runner.js").write_text("as installed")
    made = open_workspace(user, in_place=True)
    made.start(at)
    made.set_aside()
    return made


@pytest.mark.parametrize("folder", [".venv", "node_modules", "web/app/node_modules", "tools/env-3.11"])
def test_an_environment_that_an_agent_made_is_moved_away_and_named(user, here, agent, at, folder):
    agent(here, f"mkdir -p {folder}/lib {folder}/bin; touch {folder}/pyvenv.cfg; echo easy > {folder}/lib/runner.py")
    notes = here.snapshot("one", "m", at).notes
    assert [note for note in notes if note.startswith(f"{folder} appeared while an agent was at work")]
    assert users_environments(user.root, NAMES) == ("packages/a/node_modules",)
    kept = list(here.checkout.moved_away.rglob("runner.py"))
    assert [path.read_text() for path in kept] == ["easy\n"]


def test_one_that_a_killed_turn_made_is_gone_before_the_task_goes_on(user, here, agent, open_workspace):
    agent(here, "mkdir .venv; echo easy > .venv/runner.py")
    open_workspace(user, in_place=True)
    assert users_environments(user.root, NAMES) == ("packages/a/node_modules",)


def test_one_put_in_the_place_of_the_users_by_renaming_a_folder_above_it_does_not_stay(user, here, agent, at):
    agent(here, "mv packages moved; mkdir -p packages/a/node_modules; echo easy > packages/a/node_modules/runner.js")
    here.snapshot("one", "m", at)
    found = users_environments(user.root, NAMES)
    assert [(user.root / name / "runner.js").read_text() for name in found] == ["as installed"]


def test_a_link_that_an_agent_put_in_the_place_of_another_does_not_stay(user, here, agent, at, tmp_path):
    (tmp_path / "real").mkdir()
    (user.root / "node_modules").symlink_to(tmp_path / "real")
    agent(here, "mkdir easy; rm node_modules; ln -s easy node_modules")
    notes = here.snapshot("one", "m", at).notes
    assert any(note.startswith("node_modules appeared") for note in notes)
    assert not (user.root / "node_modules").is_symlink()


def test_a_folder_put_where_a_link_of_the_users_leads_does_not_stay(user, here, agent, at):
    (user.root / "envs" / "dev").mkdir(parents=True)
    (user.root / "envs" / "dev" / "runner.py").write_text("as installed")
    (user.root / ".venv").symlink_to("envs/dev")
    agent(here, "mv envs moved; mkdir -p envs/dev; echo easy > envs/dev/runner.py")
    here.snapshot("one", "m", at)
    assert not (user.root / ".venv").exists()
    assert not (user.root / "envs" / "dev").exists()
    assert (user.root / "moved" / "dev" / "runner.py").read_text() == "as installed"


def test_where_a_new_link_leads_stays(user, here, agent, at):
    (user.root / "data.log").mkdir()
    (user.root / "data.log" / "mine").write_text("mine")
    agent(here, "ln -s data.log node_modules; ln -s . .venv")
    here.snapshot("one", "m", at)
    assert (user.root / "data.log" / "mine").read_text() == "mine"
    assert not any((user.root / name).is_symlink() for name in NAMES)


def test_what_set_up_installs_and_what_the_tree_itself_holds_stays(user, here, agent, at, open_workspace):
    user.write("fixtures/node_modules/one.js", "x\n")
    user.git("add", "-f", "fixtures")
    user.git("commit", "-qm", "fixtures")
    here = open_workspace(user, "002-other", in_place=True)
    here.start(at)
    agent(here, "mkdir .venv; touch .venv/installed", use="writable")
    here.leave_out(here.tip, at)
    here.set_aside()
    agent(here, "cp -r fixtures again; rm -r fixtures; mv again fixtures")
    assert here.snapshot("one", "m", at).notes == ()
    assert (user.root / ".venv" / "installed").exists()
    assert (user.root / "fixtures" / "node_modules" / "one.js").exists()


def test_only_the_newest_of_one_place_is_kept(user, here, agent, at):
    for number in range(3):
        agent(here, f"mkdir .venv; echo {number} > .venv/number")
        here.snapshot(f"s{number}", "m", at)
    assert [path.read_text() for path in here.checkout.moved_away.rglob("number")] == ["2\n"]
