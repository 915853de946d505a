"""In place every `.git` below the tree is out of an agent's reach, and what it plants is met by nobody's git."""

import os
import subprocess

import pytest

from flyball.core.model.task import TaskId
from flyball.workspace import GitWorkspace, Repository
from flyball.workspace.errors import LinkedGitFolder, SettingsInReach
from flyball.workspace.sandbox import Confined, Unavailable, available

pytestmark = pytest.mark.req("C46")
PLANT = "mkdir -p {0}/hooks; for h in pre-commit post-checkout post-index-change fsmonitor; do printf '#!/bin/sh\\ntouch {1}\\n' > {0}/hooks/$h; chmod +x {0}/hooks/$h; done; printf '[core]\\n\\tfsmonitor = {0}/hooks/fsmonitor\\n' >> {0}/config"


@pytest.fixture
def inner(user):
    """A repository in the user's repository, not a submodule."""
    made = type(user)(user.root / "vendor" / "inner")
    made.root.mkdir(parents=True)
    made.git("init", "-q")
    made.write("i.txt", "inner\n")
    made.commit()
    return made


@pytest.fixture
def here(user, inner, open_workspace, at):
    return begun(user, open_workspace, at)


def begun(user, open_workspace, at):
    here = open_workspace(user, in_place=True)
    here.start(at)
    here.set_aside()
    return here


@pytest.fixture
def agent(user, home):
    """Runs a shell script as an agent in the user's tree, in the sandbox."""
    program = available()
    if isinstance(program, Unavailable):
        pytest.skip(program.reason)

    def run(here, script):
        confine = Confined(program, user.root, (home,), git_dirs=here.git_dirs, nested=here.guard_nested)
        argv, folder, env = confine(["/bin/sh", "-c", script], tree=user.root, env=dict(os.environ))
        return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "executed"


def nobody_executed(user, mark, *folders):
    """Whatever the user does with git in these folders next."""
    for folder in (user.root, *folders):
        for args in (("status",), ("add", "-A"), ("commit", "-qm", "x", "--allow-empty"), ("checkout", "-q", ".")):
            subprocess.run(["git", *args], cwd=folder, capture_output=True, check=False)
    return not mark.exists()


def test_hooks_planted_in_a_nested_repository_would_run(user, inner, mark):
    subprocess.run(["/bin/sh", "-c", PLANT.format(inner.root / ".git", mark)], check=True)
    assert not nobody_executed(user, mark, inner.root)


def test_hooks_and_settings_of_a_nested_repository_cannot_be_written(user, inner, here, agent, mark, at):
    before = inner.everything()
    agent(here, PLANT.format(inner.root / ".git", mark))
    agent(here, f"mv {inner.root}/.git {inner.root}/moved; rm -rf {inner.root}/.git")
    here.snapshot("one", "m", at)
    assert inner.everything() == before
    assert nobody_executed(user, mark, inner.root)


def test_a_deep_one_is_out_of_reach_too_and_in_an_ignored_folder(user, open_workspace, agent, mark, at):
    deep = type(user)(user.root / "build" / "a" / "b" / "c" / "d")
    deep.root.mkdir(parents=True)
    deep.git("init", "-q")
    before = deep.everything()
    here = begun(user, open_workspace, at)
    agent(here, PLANT.format(deep.root / ".git", mark))
    assert deep.everything() == before


def test_one_that_an_agent_makes_is_moved_away_and_its_files_are_saved(user, here, agent, mark, at):
    other = user.root / "other"
    done = agent(
        here, f"mkdir {other} && cd {other} && git init -q && echo mine > o.txt; {PLANT.format(f'{other}/.git', mark)}"
    )
    assert done.returncode == 0, done.stderr
    saved = here.snapshot("one", "m", at)
    assert not (other / ".git").exists()
    assert here.read_file(saved.commit, "other/o.txt") == b"mine\n"
    assert any("other/.git" in note and str(here.checkout.moved_away) in note for note in saved.notes)
    assert (here.checkout.moved_away / "1" / "config").exists()
    assert nobody_executed(user, mark, other)


def test_a_folder_renamed_from_under_its_repository_gains_nothing(user, inner, here, agent, mark, at):
    plant = PLANT.format(f"{inner.root}/.git", mark)
    agent(
        here,
        f"cd {inner.root.parent} && mv inner elsewhere; mkdir -p {inner.root} && git init -q {inner.root}; {plant}",
    )
    here.snapshot("one", "m", at)
    here.restore("start")
    assert nobody_executed(user, mark, inner.root, inner.root.parent / "elsewhere", inner.root.parent)


def test_the_pointer_of_a_submodule_cannot_be_replaced(user, new_user, open_workspace, agent, mark, at):
    other = new_user("other")
    other.write("o.txt")
    other.commit()
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.root), "lib")
    user.commit()
    here = begun(user, open_workspace, at)
    pointer = (user.root / "lib" / ".git").read_bytes()
    lib = user.root / "lib"
    agent(
        here,
        f"rm -f {lib}/.git; echo gitdir: {user.root}/evil > {lib}/.git; git init -q {user.root}/evil; mv {lib} {lib}2; mkdir {lib}; {PLANT.format(f'{lib}/.git', mark)}",
    )
    here.snapshot("one", "m", at)
    assert nobody_executed(user, mark)
    assert pointer in {path.read_bytes() for path in user.root.glob("lib*/.git")}


def test_a_git_folder_of_another_name_in_the_tree_is_out_of_reach(user, open_workspace, agent, mark, at):
    user.git("init", "-q", "--separate-git-dir", str(user.root / "store"), str(user.root / "sub"))
    here = begun(user, open_workspace, at)
    agent(here, PLANT.format(user.root / "store", mark))
    assert nobody_executed(user, mark, user.root / "sub")


def test_a_linked_git_folder_is_refused_with_what_to_type(user, home):
    (user.root / ".git").rename(user.root.parent / "real.git")
    (user.root / ".git").symlink_to(user.root.parent / "real.git")
    here = GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), in_place=True)
    with pytest.raises(LinkedGitFolder, match="symbolic link") as refused:
        here.prepare()
    command = refused.value.remedy.partition(": ")[2].partition("; or")[0]
    subprocess.run(["/bin/sh", "-c", command], check=True)
    GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), in_place=True).prepare()


def test_what_a_killed_turn_made_is_moved_away_when_the_task_goes_on(user, here, agent, open_workspace, mark):
    other = user.root / "other"
    agent(here, f"git init -q {other}; {PLANT.format(f'{other}/.git', mark)}")
    open_workspace(user, in_place=True)
    assert not (other / ".git").exists()
    assert nobody_executed(user, mark, other)


def test_what_the_user_makes_between_turns_stays(user, here, agent, at):
    agent(here, "true")
    here.snapshot("one", "m", at)
    user.git("init", "-q", str(user.root / "mine"))
    here.snapshot("two", "m", at)
    agent(here, "true")
    here.snapshot("three", "m", at)
    assert (user.root / "mine" / ".git").is_dir()


def test_flyball_itself_executes_nothing_planted_in_a_nested_repository(user, inner, here, mark, at):
    """As without a sandbox, where an agent can write it."""
    subprocess.run(["/bin/sh", "-c", PLANT.format(inner.root / ".git", mark)], check=True)
    user.write("vendor/inner/.gitattributes", "* filter=evil diff=evil\n")
    with (inner.root / ".git" / "config").open("a") as config:
        config.write(
            f'[filter "evil"]\n\tclean = touch {mark}\n\tsmudge = touch {mark}\n[diff "evil"]\n\ttextconv = touch {mark}\n'
        )
    user.write("vendor/inner/i.txt", "changed\n")
    here.repository.uncommitted_files()
    saved = here.snapshot("one", "m", at)
    here.diff(here.base, saved.commit)
    here.restore("start")
    here.restore("one")
    here.publish(saved.commit)
    assert not mark.exists()
    assert (inner.root / ".git").is_dir()


TAKE_OVER = "printf '#!/bin/sh\\ntouch {0}\\n' > {1}; chmod +x {1}; mv tools gone; mkdir -p tools/hooks; cp {1} tools/hooks/; true"


def test_hooks_that_settings_take_from_the_tree_are_out_of_reach(user, open_workspace, agent, mark, at):
    user.write("tools/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
    user.commit()
    user.git("config", "core.hooksPath", "tools/hooks")
    here = begun(user, open_workspace, at)
    said = agent(here, f"echo beside > tools/other; {TAKE_OVER.format(mark, 'tools/hooks/pre-commit')}")
    assert "Read-only file system" in said.stderr
    assert (user.root / "tools" / "other").read_text() == "beside\n", "all else in the folder is the agent's"
    assert (user.root / "tools" / "hooks" / "pre-commit").read_text() == "#!/bin/sh\nexit 0\n"
    user.git("commit", "-q", "--allow-empty", "-m", "mine")
    assert not mark.exists()


def test_settings_that_settings_take_from_the_tree_are_out_of_reach(user, open_workspace, agent, mark, at):
    user.write("team.gitconfig", "[alias]\n\tst = status\n")
    user.commit()
    user.git("config", "include.path", "../team.gitconfig")
    here = begun(user, open_workspace, at)
    agent(here, f"printf '[core]\\n\\tfsmonitor = \"touch {mark}\"\\n' >> team.gitconfig; rm -f team.gitconfig; true")
    user.git("status", "--porcelain")
    assert not mark.exists()
    assert "alias" in (user.root / "team.gitconfig").read_text()


@pytest.mark.parametrize(
    ("key", "value", "place"), [("core.hooksPath", ".husky/_", ".husky/_"), ("include.path", "../own.cfg", "own.cfg")]
)
def test_a_place_for_hooks_or_settings_that_is_missing_is_refused_with_what_to_type(user, home, key, value, place):
    user.git("config", key, value)
    with pytest.raises(SettingsInReach, match=place) as refused:
        GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), in_place=True).prepare()
    command = refused.value.remedy.partition(": ")[2].partition("; or")[0]
    subprocess.run(["/bin/sh", "-c", command], check=True)
    GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), in_place=True).prepare()
    GitWorkspace(Repository.find(user.root), home, TaskId("002-thing")).prepare()


def test_hooks_outside_the_tree_are_nobodys_business(user, home, tmp_path):
    user.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    GitWorkspace(Repository.find(user.root), home, TaskId("001-thing"), in_place=True).prepare()
