"""Integration is one act with four outcomes: integrated, conflicted, nothing to integrate, refused; nobody's files are touched."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.workspace.errors import GitFailed
from flyball.workspace.git import Git
from flyball.workspace.merging import Merged
from flyball.workspace.workspace import GitWorkspace

MARKED = ("<<<<<<< ", "||||||| ", ">>>>>>> ")


def commit_of(workspace: GitWorkspace, base: Commit, files: Mapping[str, bytes | None]) -> Commit:
    """A commit on `base` that has these files, or lacks them."""
    gone = [path for path, content in files.items() if content is None]
    kept = {path: content for path, content in files.items() if content is not None}
    tree = workspace.overlay(base, dict.fromkeys(gone), kept)
    return Commit(workspace.accept(f"work-{sorted(files)}-{hash(str(files))}", "w", AT, tree=tree, parent=base).commit)


def merge(workspace: GitWorkspace, mine: Commit, onto: Commit, base: Commit, *without: str) -> Merged:
    return workspace.integrate(mine, base=base, onto=onto, message="1.2: add", at=AT, without=without)


@pytest.mark.req("O30")
def test_a_conflict_carries_both_diffs_and_the_base_between_markers(workspace: GitWorkspace, user: User) -> None:
    before, base = user.everything(), workspace.base
    mine = commit_of(workspace, base, {"b.txt": b"uno\ntwo\n", "mine.txt": b"mine\n"})
    other = commit_of(workspace, base, {"b.txt": b"ONE\ntwo\n"})
    met = workspace.lane("1.2").integrate(mine, base=base, onto=other, message="m", at=AT)
    assert isinstance(met, Conflicted)
    assert met.paths == ("b.txt",)
    assert "+uno" in met.own_diff
    assert "mine.txt" not in met.own_diff, "only the files in conflict are told"
    assert "+ONE" in met.other_diff
    lines = met.markers.splitlines()
    assert lines[0] == "=== b.txt"
    told = [line for line in lines if line.startswith(MARKED)]
    assert told[0] == "<<<<<<< integrated"
    assert told[1].startswith("||||||| ")
    assert told[2] == ">>>>>>> lane-1.2"
    assert lines[lines.index(told[1]) + 1] == "one", "the base stands between them"
    assert user.everything() == before


def test_what_a_conflict_tells_is_bounded(workspace: GitWorkspace) -> None:
    base = workspace.base
    mine = commit_of(workspace, base, {"b.txt": b"a\n" * 40_000})
    other = commit_of(workspace, base, {"b.txt": b"b\n" * 40_000})
    met = merge(workspace, mine, other, base)
    assert isinstance(met, Conflicted)
    for text in (met.own_diff, met.other_diff, met.markers):
        assert 10_000 < len(text) < 13_000
        assert text.endswith("characters more")


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ({"b.txt": None}, {"b.txt": b"ONE\ntwo\n"}),
        ({"b.txt": b"\0one"}, {"b.txt": b"\0two"}),
        ({"new": b"a\n"}, {"new/below": b"b\n"}),
        ({"new": b"a\n"}, {"new": b"b\n"}),
    ],
    ids=["modify-delete", "binary", "file-folder", "add-add"],
)
def test_every_kind_of_conflict_is_one_and_makes_no_commit(
    workspace: GitWorkspace, mine: Mapping[str, bytes | None], other: Mapping[str, bytes | None]
) -> None:
    base = workspace.base
    sides = commit_of(workspace, base, mine), commit_of(workspace, base, other)
    for one, two in (sides, sides[::-1]):
        met = merge(workspace, one, two, base)
        assert isinstance(met, Conflicted)
        assert met.paths
        assert met.own_diff
        assert met.other_diff
        assert met.markers, "where there are no markers, git's own words stand there"


def test_a_rename_and_an_edit_of_the_same_file_are_both_kept(workspace: GitWorkspace) -> None:
    text = b"".join(b"line %d\n" % n for n in range(30))
    base = commit_of(workspace, workspace.base, {"old.txt": text})
    renamed = commit_of(workspace, base, {"old.txt": None, "new.txt": text})
    edited = commit_of(workspace, base, {"old.txt": text.replace(b"line 3\n", b"LINE 3\n")})
    met = merge(workspace, renamed, edited, base)
    assert isinstance(met, Integrated)
    assert b"LINE 3\n" in (workspace.read_file(met.commit, "new.txt") or b"")
    assert set(met.changed) == {("D", "old.txt"), ("A", "new.txt")}, "what the lane changed, not what others did"
    assert met.changes == 2


def test_work_that_was_rolled_back_does_not_come_back_with_a_lane_that_began_before(workspace: GitWorkspace) -> None:
    start = workspace.base
    undone = commit_of(workspace, start, {"undone.txt": b"undone\n"})
    lane = commit_of(workspace, undone, {"lane.txt": b"lane\n"})
    met = merge(workspace, lane, start, undone)
    assert isinstance(met, Integrated)
    assert workspace.read_file(met.commit, "undone.txt") is None
    assert workspace.read_file(met.commit, "lane.txt") == b"lane\n"


def test_what_a_lane_may_not_bring_along_is_dropped_and_named(workspace: GitWorkspace) -> None:
    base = commit_of(workspace, workspace.base, {"tasks.md": b"- [ ] 1.2\n", ".loop/x": b"1\n"})
    lane = commit_of(workspace, base, {"tasks.md": b"- [x] 1.2\n", ".loop/y": b"2\n", ".loop/x": None, "c": b"c\n"})
    met = merge(workspace, lane, base, base, "tasks.md", ".loop/")
    assert isinstance(met, Integrated)
    assert set(met.dropped) == {"tasks.md", ".loop/x", ".loop/y"}
    assert met.changed == (("A", "c"),)
    assert workspace.changed_files(base, met.commit) == (("A", "c"),)
    only = commit_of(workspace, base, {"tasks.md": b"- [x] 1.2\n"})
    assert merge(workspace, only, base, base, "tasks.md") == NothingToIntegrate(("tasks.md",))


def test_no_merge_driver_of_the_repository_is_started(workspace: GitWorkspace, user: User, tmp_path: Path) -> None:
    base = commit_of(workspace, workspace.base, {".gitattributes": b"*.txt merge=sly\n"})
    user.git("config", "merge.sly.driver", f"touch {tmp_path / 'started'}; exit 0")
    with (workspace.vault.git_dir / "config").open("a") as config:
        config.write(f'[merge "sly"]\n\tdriver = touch {tmp_path / "started"}\n')
    mine, other = (commit_of(workspace, base, {"b.txt": word}) for word in (b"uno\ntwo\n", b"ONE\ntwo\n"))
    assert isinstance(merge(workspace, mine, other, base), Conflicted)
    assert not (tmp_path / "started").exists()


def test_lines_of_both_are_kept_where_the_base_tree_says_union(workspace: GitWorkspace) -> None:
    attributes = b"CHANGELOG.md merge=union\n"
    base = commit_of(workspace, workspace.base, {".gitattributes": attributes, "CHANGELOG.md": b"# Log\n\n- old\n"})
    one, two = (commit_of(workspace, base, {"CHANGELOG.md": b"# Log\n\n- %s\n- old\n" % w}) for w in (b"one", b"two"))
    met = merge(workspace, one, two, base)
    assert isinstance(met, Integrated)
    kept = (workspace.read_file(met.commit, "CHANGELOG.md") or b"").decode()
    assert sorted(kept.split()[2:]) == sorted(["-", "one", "-", "two", "-", "old"])
    assert not any(line.startswith(MARKED) for line in kept.splitlines())
    both = commit_of(workspace, base, {"CHANGELOG.md": b"# Log\n\n- one\n- old\n", "b.txt": b"uno\ntwo\n"})
    other = commit_of(workspace, base, {"CHANGELOG.md": b"# Log\n\n- two\n- old\n", "b.txt": b"ONE\ntwo\n"})
    met = merge(workspace, both, other, base)
    assert isinstance(met, Conflicted), "one file that is in conflict is enough"


def test_a_lane_cannot_ask_for_union_itself(workspace: GitWorkspace) -> None:
    base = workspace.base
    mine = commit_of(workspace, base, {".gitattributes": b"b.txt merge=union\n", "b.txt": b"uno\ntwo\n"})
    other = commit_of(workspace, base, {"b.txt": b"ONE\ntwo\n"})
    assert isinstance(merge(workspace, mine, other, base), Conflicted)


def test_exit_1_without_a_tree_is_a_failure_and_no_conflict(
    workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Git.run

    def broken(self: Git, *args: str, **more: object) -> object:
        args = (*args[:-1], "deadbeef") if args[0] == "merge-tree" else args
        return run(self, *args, **more)  # type: ignore[arg-type]

    base = workspace.base
    mine, other = (commit_of(workspace, base, {"b.txt": word}) for word in (b"uno\ntwo\n", b"ONE\ntwo\n"))
    monkeypatch.setattr(Git, "run", broken)
    with pytest.raises(GitFailed, match="merge-tree"):
        merge(workspace, mine, other, base)
