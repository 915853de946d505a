"""Working in the user's own tree: what lies there uncommitted is not taken without a word."""

import json

import pytest


@pytest.mark.req("O46")
@pytest.mark.parametrize("where", [("--in-place",), ()])
def test_unattended_a_dirty_tree_is_left_alone_said_and_the_task_isolated(repository, flyball, where):
    (repository / "README.md").write_text("not committed\n")
    how = ("--unattended", "--json", "--sandbox", "none", "--agent-command", "true", "--gate", "test=no-such-program")
    done = flyball("run", "do it", *where, *how)
    assert done.code == 3, done.err
    assert "1 uncommitted change here" in done.err
    opened = json.loads(done.out.splitlines()[0])
    assert "in_place" not in json.dumps(opened)
    assert (repository / "README.md").read_text() == "not committed\n"
