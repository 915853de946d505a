"""C16: byte code and caches are part of no tree, whatever a repository ignores."""

import pytest

CACHES = (
    *(
        "pkg/__pycache__/a.cpython-311.pyc",
        "stray.pyc",
        ".pytest_cache/v/x",
        ".mypy_cache/3.11/a.json",
        ".ruff_cache/x",
    ),
    "web/node_modules/.cache/b.js",
)


@pytest.mark.req("C16", "C42")
def test_byte_code_and_caches_are_in_no_checkpoint_where_nothing_is_ignored(user, open_workspace, at) -> None:
    user.write("pkg/a.py", "X = 1\n")
    user.commit()
    workspace = open_workspace(user)
    for path in (*CACHES, "pkg/b.py"):
        file = workspace.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.changed_files(workspace.base, saved.commit) == (("A", "pkg/b.py"),)


@pytest.mark.req("C16")
def test_byte_code_that_a_repository_tracks_stays_tracked(user, open_workspace, at) -> None:
    user.write("vendor/a.pyc", "one\n")
    user.commit()
    workspace = open_workspace(user)
    (workspace.root / "vendor" / "a.pyc").write_text("two\n")
    saved = workspace.snapshot("one", "m", at)
    assert workspace.changed_files(workspace.base, saved.commit) == (("M", "vendor/a.pyc"),)
