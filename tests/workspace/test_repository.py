import os
import shutil
import subprocess
from pathlib import Path

import pytest

from flyball.workspace import git
from flyball.workspace.errors import DamagedRepository, NotARepository, WorkspaceError
from flyball.workspace.repository import Repository


def test_a_repository_is_found_from_a_folder_inside_it(user):
    found = Repository.find(user.root / "src")
    assert found.root == user.root
    assert found.git_dir == found.common_dir == user.root / ".git"
    assert found.head == user.git("rev-parse", "HEAD")
    assert found.branch == "main"
    assert found.in_progress is None
    assert found.object_format == "sha1"


def test_a_folder_in_no_repository_is_refused_with_the_command_to_type(tmp_path):
    with pytest.raises(NotARepository, match="git init"):
        Repository.find(tmp_path)


def damage(git_dir: Path, how: str) -> None:
    match how:
        case "an empty HEAD":
            (git_dir / "HEAD").write_text("")
        case "no objects":
            shutil.rmtree(git_dir / "objects")
        case "a bad setting":
            (git_dir / "config").write_text("[[[")
        case "a file that leads nowhere":
            shutil.rmtree(git_dir)
            git_dir.write_text("gitdir: nowhere\n")


@pytest.mark.parametrize("how", ["an empty HEAD", "no objects", "a bad setting", "a file that leads nowhere"])
def test_a_repository_that_git_cannot_use_is_said_to_be_damaged_and_not_made_anew(user, how):
    damage(user.root / ".git", how)
    with pytest.raises(DamagedRepository) as refused:
        Repository.find(user.root / "src")
    assert str(refused.value).startswith(f"The git repository at {user.root} is damaged: git says: fatal: ")
    assert str(refused.value).endswith("Look into it: git fsck")
    assert "git init" not in str(refused.value)


@pytest.mark.parametrize(
    ("how", "said"), [("lost", "missing object"), ("nonsense", "broken ref|valid object"), ("detached", "cat-file")]
)
def test_a_head_whose_commit_is_lost_is_damage_and_not_a_repository_without_commits(user, how, said):
    if how == "detached":
        user.git("checkout", "-q", "--detach")
    if how == "nonsense":
        (user.root / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")
    else:
        shutil.rmtree(user.root / ".git" / "objects")
        (user.root / ".git" / "objects").mkdir()
    found = Repository.find(user.root)
    with pytest.raises(DamagedRepository, match=said) as refused:
        found.require_commit()
    assert "commit --allow-empty" not in str(refused.value)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(NotARepository, match="There is no folder"):
        Repository.find(tmp_path / "absent")


def test_a_bare_repository_is_refused(tmp_path):
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    with pytest.raises(WorkspaceError, match="no working tree"):
        Repository.find(tmp_path / "bare.git")


def test_the_inside_of_a_git_folder_is_refused(user):
    with pytest.raises(WorkspaceError):
        Repository.find(user.root / ".git" / "objects")


def test_a_detached_head_is_seen(user):
    user.git("checkout", "-q", "--detach")
    found = Repository.find(user.root)
    assert found.branch is None
    assert found.head == user.git("rev-parse", "HEAD")


def test_an_unborn_head_is_seen_and_refused_where_a_commit_is_needed(new_user):
    user = new_user()
    user.write("a")
    found = Repository.find(user.root)
    assert found.head is None
    assert found.branch == "main"
    assert len(found.uncommitted_files()) == 1
    with pytest.raises(WorkspaceError, match="git add -A && git commit --allow-empty"):
        found.require_commit()


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
def test_an_operation_in_progress_is_named(user, operation):
    user.git("switch", "-q", "-c", "other")
    user.write("b.txt", "other\n")
    user.commit()
    user.git("switch", "-q", "main")
    user.write("b.txt", "main\n")
    user.commit()
    user.git(operation, "other", ok=False)
    found = Repository.find(user.root)
    assert found.in_progress == operation


def test_a_linked_worktree_is_found_with_its_own_head(user, tmp_path):
    user.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    found = Repository.find(tmp_path / "side")
    assert found.git_dir != found.common_dir == user.root / ".git"
    assert found.branch == "side"
    assert found.root == tmp_path / "side"
    assert found.common_dir == user.root / ".git"


@pytest.mark.parametrize("name", ["with space", "new\nline", "ünïcode", 'quo"te', "colon:here", "-dash"])
def test_odd_folder_names_work(new_user, name, open_workspace, at):
    user = new_user(name)
    user.write("a.txt")
    user.commit()
    found = Repository.find(user.root)
    assert found.root == user.root
    workspace = open_workspace(user)
    (workspace.root / "a.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "checkpoint: one", at)
    workspace.publish(saved.commit)
    assert user.git("show", "flyball/001-thing:a.txt") == "changed"


def test_a_sha256_repository_works(new_user, open_workspace, at):
    user = new_user("project", "--object-format=sha256")
    user.write("a.txt")
    user.commit()
    assert Repository.find(user.root).object_format == "sha256"
    workspace = open_workspace(user)
    (workspace.root / "a.txt").write_text("changed\n")
    saved = workspace.snapshot("one", "checkpoint: one", at)
    assert len(saved.commit) == 64
    workspace.publish(saved.commit)
    assert user.git("show", "flyball/001-thing:a.txt") == "changed"
    workspace.restore("base")
    assert (workspace.root / "a.txt").read_text() == "text\n"
    workspace.overlay(saved.commit, {"a.txt": None})


def test_a_shallow_clone_works(user, tmp_path, new_user, open_workspace, at):
    user.write("b.txt", "second\n")
    user.commit()
    clone = tmp_path / "clone"
    user.git("clone", "-q", "--depth=1", f"file://{user.root}", str(clone))
    shallow = type(user)(clone)
    workspace = open_workspace(shallow)
    (workspace.root / "b.txt").write_text("third\n")
    saved = workspace.snapshot("one", "checkpoint: one", at)
    workspace.publish(saved.commit)
    assert shallow.git("show", "flyball/001-thing:b.txt") == "third"
    assert type(user)(workspace.root).git("log", "--oneline", "--format=%s") == "work"


def test_what_is_not_committed_is_counted_and_the_index_left_alone(user):
    user.write("b.txt", "changed\n")
    user.write("new/one.txt")
    user.write("new/two.txt")
    user.write("x.log")
    user.write(".loop/001-x/plan.md")
    user.write("staged.txt")
    user.git("add", "staged.txt")
    before = user.everything()
    assert len(Repository.find(user.root).uncommitted_files()) == 3
    assert user.everything() == before


@pytest.mark.req("O46")
def test_files_that_differ_in_their_times_alone_are_not_uncommitted_and_the_users_index_is_not_refreshed(user):
    for name in ("one.txt", "two.txt"):
        user.write(name, f"{name}\n")
    user.commit("Two files")
    index = user.root / ".git" / "index"
    before = index.read_bytes()
    for name in ("one.txt", "two.txt"):
        os.utime(user.root / name, (1, 1))
    assert not Repository.find(user.root).uncommitted_files()
    user.write("two.txt", "changed\n")
    assert len(Repository.find(user.root).uncommitted_files()) == 1
    assert index.read_bytes() == before


def test_a_clean_tree_is_clean_with_a_split_index_too(user):
    user.git("update-index", "--split-index")
    assert not Repository.find(user.root).uncommitted_files()


def test_a_submodule_as_committed_is_no_change(user, new_user):
    inner = new_user("inner")
    inner.write("i.txt")
    inner.commit()
    user.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib/inner")
    user.commit()
    assert not Repository.find(user.root).uncommitted_files()


def test_global_and_private_ignore_rules_are_honoured(user, tmp_path):
    (tmp_path / "person" / "ignored").write_text("*.global\n")
    user.git("config", "--global", "core.excludesFile", "~/ignored")
    (user.root / ".git" / "info" / "exclude").write_text("*.private\n")
    user.write("a.global")
    user.write("a.private")
    assert not Repository.find(user.root).uncommitted_files()


def test_what_an_agent_keeps_for_itself_in_the_tree_is_no_change(user):
    kept = user.root / ".aider.tags.cache.v4"
    kept.mkdir()
    (kept / "cache.db").write_text("tags\n")

    assert not Repository.find(user.root).uncommitted_files()


@pytest.mark.parametrize("folder", [".venv", "node_modules"])
def test_installed_dependencies_are_no_change_where_the_project_does_not_ignore_them(user, folder):
    (user.root / folder).mkdir(parents=True)
    (user.root / folder / "library").write_text("x\n")

    assert not Repository.find(user.root).uncommitted_files()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_refused_until_it_is_declared_safe(user):
    os.chown(user.root, 12345, 12345)
    with pytest.raises(WorkspaceError, match=r"safe\.directory"):
        Repository.find(user.root)
    subprocess.run(["git", "config", "--global", "--add", "safe.directory", str(user.root)], check=True)
    assert Repository.find(user.root).root == user.root


def test_a_repository_with_a_broken_config_is_refused_in_one_sentence(user):
    (user.root / ".git" / "config").write_text("[core\n")
    with pytest.raises(DamagedRepository, match="bad config"):
        Repository.find(user.root)


def test_a_relative_start_works(user, monkeypatch):
    monkeypatch.chdir(user.root)
    assert Repository.find(Path()).root == user.root


def test_empty_folders_and_such_that_hold_ignored_files_alone_are_nothing_uncommitted(user):
    (user.root / "empty" / "deep").mkdir(parents=True)
    user.write("only/ignored.log")
    assert not Repository.find(user.root).uncommitted_files()
    user.write("full/new.txt")
    assert len(Repository.find(user.root).uncommitted_files()) == 1


@pytest.mark.parametrize(("said", "is_enough"), [("2.37.9", False), ("2.38.0", True), ("3.0", True), ("", False)])
def test_a_git_that_cannot_merge_trees_is_refused(tmp_path, monkeypatch, said, is_enough):
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho git version {said}\n")
    program.chmod(0o755)
    monkeypatch.setattr(git, "program", lambda: str(program))
    git.version.cache_clear()
    try:
        if is_enough:
            assert git.version() >= (2, 38)
        else:
            with pytest.raises(WorkspaceError, match=r"older than 2\.38"):
                git.version()
    finally:
        git.version.cache_clear()
