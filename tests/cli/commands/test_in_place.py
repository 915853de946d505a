"""Working in the user's own tree: what lies there uncommitted is not taken without a word."""

import pytest

HOW = ("--unattended", "--sandbox", "none", "--agent-command", "true", "--gate", "test=sh -c no-such-program")


@pytest.mark.req("O46")
@pytest.mark.parametrize("where", [("--in-place",), ()])
def test_unattended_a_dirty_tree_is_left_alone_said_and_the_task_isolated(repository, flyball, site, where):
    (repository / "README.md").write_text("not committed\n")
    done = flyball("run", "do it", *where, *HOW)
    assert done.code == 3, done.err
    assert "1 uncommitted change here" in done.err
    assert not site.state(site.journal.tasks()[0].id).task.settings.in_place
    assert (repository / "README.md").read_text() == "not committed\n"


@pytest.mark.req("O46")
@pytest.mark.parametrize(("where", "in_place"), [(("--in-place",), True), ((), False)])
def test_a_clean_tree_is_worked_in_only_if_that_was_asked_for(flyball, site, where, in_place):
    done = flyball("run", "do it", *where, *HOW)
    assert (done.code, "uncommitted" in done.err) == (3, False), done.err
    assert site.state(site.journal.tasks()[0].id).task.settings.in_place is in_place
