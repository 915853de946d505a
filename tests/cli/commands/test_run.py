"""What `flyball run` says before its first turn."""

import pytest

HOW = ("--unattended", "--sandbox", "none", "--agent-command", "true", "--gate", "test=true", "--max-turns", "1")
CHANGED = (
    'flyball.toml names no workflow: the default was tdd and is quick now. To keep tdd, set workflow = "tdd" there.'
)


@pytest.mark.req("C18")
def test_a_configuration_without_a_workflow_says_once_in_a_repository_that_the_default_changed(
    repository, site, flyball
):
    (repository / "flyball.toml").write_text("parallel = 1\n")
    assert CHANGED not in flyball("run", "Note one", *HOW, "--workflow", "quick").err, "a workflow was typed"
    assert CHANGED in flyball("run", "Note two", *HOW).err
    assert CHANGED not in flyball("run", "Note three", *HOW).err
    assert {site.state(record.id).task.workflow for record in site.journal.tasks()} == {"quick"}


@pytest.mark.parametrize("settings", [None, 'workflow = "tdd"\n'])
def test_nothing_is_said_of_the_default_where_no_file_can_mean_another(repository, site, flyball, settings):
    if settings is not None:
        (repository / "flyball.toml").write_text(settings)
    assert "the default was" not in flyball("run", "Note one", *HOW).err
    (record,) = site.journal.tasks()
    assert site.state(record.id).task.workflow == ("tdd" if settings else "quick")
