"""Nothing that a repository or a tree names is executed, whoever wrote it."""

import os
import stat
import subprocess

import pytest

from flyball.workspace.checkout import agent_git
from flyball.workspace.repository import Repository

HOOKS = (
    *("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-checkout", "post-index-change"),
    *("reference-transaction", "post-rewrite", "pre-auto-gc", "update", "pre-receive", "fsmonitor-watchman"),
)


@pytest.fixture
def trap(tmp_path):
    """A program that leaves a mark when it is executed, planted wherever git would call one."""
    mark = tmp_path / "executed"
    program = tmp_path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{mark}"\ncat\n')
    program.chmod(0o755)

    def plant(git_dir):
        settings = "".join(
            f"[{section}]\n\t{key} = {program}\n"
            for section, key in (
                *(("core", "fsmonitor"), ("core", "pager"), ("core", "sshCommand"), ("core", "alternateRefsCommand")),
                *(("diff", "external"), ('diff "evil"', "textconv"), ('diff "evil"', "command"), ("gpg", "program")),
                *(('filter "evil"', "clean"), ('filter "evil"', "smudge"), ('filter "evil"', "process")),
                *(("credential", "helper"), ('merge "evil"', "driver"), ("uploadpack", "packObjectsHook")),
            )
        )
        with (git_dir / "config").open("a") as config:
            config.write(settings + "[commit]\n\tgpgSign = true\n")
        (git_dir / "hooks").mkdir(exist_ok=True)
        for name in HOOKS:
            hook = git_dir / "hooks" / name
            hook.write_bytes(program.read_bytes())
            hook.chmod(0o755)

    plant.mark = mark  # type: ignore[attr-defined]
    return plant


def everything_once(workspace, at):
    workspace.prepare()
    workspace.repository.uncommitted_files()
    (workspace.root / "b.txt").write_text("changed\n")
    (workspace.root / "c.txt").write_text("new\n")
    saved = workspace.snapshot("one", "checkpoint: one", at)
    workspace.diff(workspace.base, saved.commit)
    workspace.changed_files(workspace.base, saved.commit)
    workspace.numstat(workspace.base, saved.commit)
    workspace.read_file(saved.commit, "b.txt")
    workspace.restore("base")
    workspace.restore("one")
    workspace.export(workspace.overlay(saved.commit, {"b.txt": workspace.base}), workspace.checkout.folder / "out")
    workspace.publish(saved.commit)


def test_the_traps_work_when_plain_git_meets_them(user, trap):
    user.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    trap(user.root / ".git")
    user.write("b.txt", "changed\n")
    user.git("status", ok=False)
    user.git("diff", ok=False)
    assert trap.mark.exists()


def test_what_the_users_configuration_names_is_not_executed(user, trap, open_workspace, at):
    user.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    user.commit()
    trap(user.root / ".git")
    os.utime(user.root / "b.txt")
    everything_once(open_workspace(user), at)
    assert not trap.mark.exists()


def test_what_an_agent_plants_in_its_own_git_dir_is_not_executed(workspace, trap, at):
    trap(agent_git(workspace.root))
    (workspace.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    everything_once(workspace, at)
    assert not trap.mark.exists()


def test_a_git_folder_an_agent_puts_in_place_of_its_own_is_not_executed(workspace, trap, at):
    (workspace.root / ".git").unlink()
    subprocess.run(["git", "init", "-q", str(workspace.root)], check=True)
    trap(workspace.root / ".git")
    subprocess.run(["git", "init", "-q", str(workspace.root / "nested")], check=True)
    trap(workspace.root / "nested" / ".git")
    (workspace.root / "nested" / "n.txt").write_text("kept\n")
    everything_once(workspace, at)
    assert not trap.mark.exists()
    assert workspace.read_file(workspace.resolve("one"), "nested/n.txt") == b"kept\n"


def test_a_diff_cannot_be_hidden_by_attributes(workspace, at):
    (workspace.root / ".gitattributes").write_text("* -diff\n*.py binary\n")
    (workspace.root / "src" / "a.py").write_text("print('sneaky')\n")
    saved = workspace.snapshot("one", "m", at)
    assert b"+print('sneaky')" in workspace.diff(workspace.base, saved.commit)


def test_variables_of_the_caller_do_not_reach_git(user, workspace, at, tmp_path, monkeypatch):
    before = user.everything()
    monkeypatch.setenv("GIT_DIR", str(user.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(user.root / ".git" / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path))
    (workspace.root / "b.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "m", at)
    assert b"+changed" in workspace.diff(workspace.base, saved.commit)
    assert Repository.find(user.root).root == user.root
    assert user.everything() == before


def test_files_outside_are_never_written_through_a_link(workspace, at, tmp_path):
    saved = workspace.snapshot("one", "m", at)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("mine\n")
    (workspace.root / "src" / "a.py").unlink()
    (workspace.root / "src").rmdir()
    (workspace.root / "src").symlink_to(outside)
    (workspace.root / ".loop").symlink_to(outside)
    linked = workspace.snapshot("two", "m", at)
    assert workspace.read_file(linked.commit, "src") == os.fsencode(outside)
    workspace.restore(saved.commit)
    assert (outside / "a.py").read_text() == "mine\n"
    assert not (workspace.root / "src").is_symlink()
    assert (workspace.root / "src" / "a.py").read_text() == "print('a')\n"
    target = workspace.checkout.folder / "out"
    workspace.export(linked.tree, target)
    workspace.export(saved.tree, target)
    assert (outside / "a.py").read_text() == "mine\n"
    assert stat.S_ISREG((target / "src" / "a.py").lstat().st_mode)


def test_a_loop_folder_that_is_a_link_is_not_followed_for_what_is_committed_of_it(workspace, at, tmp_path):
    (tmp_path / "away" / "001-thing").mkdir(parents=True)
    (tmp_path / "away" / "001-thing" / "plan.md").write_text("elsewhere\n")
    (workspace.root / ".loop").symlink_to(tmp_path / "away")
    assert workspace.snapshot("one", "m", at).tree == workspace.tree_of(workspace.base)
    workspace.restore("base")
    assert (tmp_path / "away" / "001-thing" / "plan.md").exists()
