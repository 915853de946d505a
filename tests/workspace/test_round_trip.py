import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

NAME = st.one_of(
    st.sampled_from(
        [b"a", b"b", b"A", b"ab", b".x", b" ", b"-", b"new\nline", b"tab\t", b'q"', b"\\", b"*", b":(top)", b"\xff\xfe"]
    ),
    st.binary(min_size=1, max_size=6).filter(lambda name: not set(name) & {0, 47} and name not in (b".", b"..")),
).filter(lambda name: name.lower() not in (b".git", b"git~1", b".loop", b".gitignore", b".gitattributes"))
CONTENT = st.one_of(
    st.binary(max_size=40), st.sampled_from([b"", b"a\r\nb\n", b"\xef\xbb\xbfx", b"$Id$\n", b"\x00\xff"])
)
FILE = st.one_of(
    CONTENT.map(lambda data: ("file", data)),
    CONTENT.map(lambda data: ("program", data)),
    st.sampled_from([b"a", b"../out", b"/etc/passwd", b"missing\n", b"."]).map(lambda data: ("link", data)),
)
TREE = st.recursive(FILE, lambda below: st.dictionaries(NAME, below, min_size=1, max_size=4), max_leaves=10)
TREES = st.lists(st.dictionaries(NAME, TREE, max_size=5), min_size=2, max_size=3)


def write(folder: bytes, tree: dict[bytes, Any]) -> None:
    for name, node in tree.items():
        path = os.path.join(folder, name)
        if isinstance(node, dict):
            os.mkdir(path)
            write(path, node)
        elif node[0] == "link":
            os.symlink(node[1], path)
        else:
            Path(os.fsdecode(path)).write_bytes(node[1])
            os.chmod(path, 0o755 if node[0] == "program" else 0o644)


def read(folder: bytes) -> dict[bytes, Any]:
    found: dict[bytes, Any] = {}
    for entry in os.scandir(folder):
        if entry.name == b".git":
            continue
        if entry.is_symlink():
            found[entry.name] = ("link", os.readlink(entry.path))
        elif entry.is_dir():
            found[entry.name] = read(entry.path)
        else:
            kind = "program" if entry.stat().st_mode & 0o100 else "file"
            found[entry.name] = (kind, Path(os.fsdecode(entry.path)).read_bytes())
    return found


def clear(folder: bytes) -> None:
    for entry in os.scandir(folder):
        if entry.name == b".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


@pytest.mark.slow
def test_any_tree_comes_back_byte_for_byte_from_any_other(workspace, at):
    """Saved one after the other in the same folder, each is restored from the last and exported, exactly."""
    root = os.fsencode(workspace.root)
    examples = iter(range(10**6))

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(trees=TREES)
    def check(trees: list[dict[bytes, Any]]) -> None:
        number = next(examples)
        saved = []
        for position, tree in enumerate(trees):
            clear(root)
            write(root, tree)
            saved.append(workspace.snapshot(f"{number}/{position}", "m", at))
            assert saved[-1].notes == ()
        with tempfile.TemporaryDirectory() as folder:
            for tree, snapshot in zip(trees, saved, strict=True):
                workspace.restore(snapshot.commit)
                assert read(root) == tree
                workspace.export(snapshot.tree, Path(folder))
                assert read(os.fsencode(folder)) == tree
                paths = workspace.list_files(snapshot.commit)
                for path in paths:
                    assert workspace.read_file(snapshot.commit, path) is not None

    check()
