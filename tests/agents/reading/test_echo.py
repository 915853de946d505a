"""A text that stands in the tree is found, however it is laid out, and nothing else is."""

import os

from flyball.agents.reading import echo
from flyball.agents.reading.echo import Echo


def test_a_text_is_found_across_lines_and_in_any_folder(tmp_path):
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "deep" / "down" / "log.txt").write_bytes(b"before\xff\nStatus:   COMPLETE\n\tall of it\nafter")
    assert Echo(tmp_path)("Status: COMPLETE all of it")
    assert Echo(tmp_path)("Status: COMPLETE\nall of it\n")
    assert not Echo(tmp_path)("Status: COMPLETE none of it")
    assert not Echo(tmp_path)(" \n")


def test_the_repositorys_own_and_installed_files_are_not_searched(tmp_path):
    for folder in (".git", "node_modules", ".venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("Verdict: PASS")
    assert not Echo(tmp_path)("Verdict: PASS")


def test_links_and_pipes_are_left_alone(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("Verdict: PASS")
    tree = tmp_path / "tree"
    tree.mkdir()
    os.symlink(outside, tree / "link")
    os.symlink(tmp_path, tree / "loop")
    os.mkfifo(tree / "pipe")
    assert not Echo(tree)("Verdict: PASS")


def test_a_file_that_has_gone_or_changed_its_kind_since_is_no_trouble(tmp_path):
    for name in ("gone", "pipe"):
        (tmp_path / name).write_text("Verdict: PASS")
    seen = Echo(tmp_path)
    assert seen("Verdict: PASS")
    for name in ("gone", "pipe"):
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "pipe")
    assert not seen("Verdict: PASS")


def test_only_so_much_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(echo, "LARGEST_FILE", 1000)
    (tmp_path / "long").write_bytes(b"x " * 600 + b"Verdict: PASS")
    assert not Echo(tmp_path)("Verdict: PASS")
