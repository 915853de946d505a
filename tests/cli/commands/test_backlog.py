"""How a backlog is begun: what is refused before anything is written, and what `init` writes for it."""

import os
from pathlib import Path

import pytest
from tests.support.work_folder import Work

from flyball.clock import system_clock
from flyball.journal.leases import Lease, this_process, tree_scope
from flyball.wiring.site import Site

FLAGS = ("--unattended", "--sandbox", "none", "--agent-command", "true", "--gate", "test=true")


def test_without_a_backlog_the_workflow_says_what_is_missing(flyball, repository: Path) -> None:
    refused = flyball("run", "--workflow", "backlog", *FLAGS)
    assert refused.code == 2
    assert f"{repository / '.work'} is not a backlog" in refused.err
    assert "flyball init --constitution" in refused.err
    assert not (repository / ".loop").exists()


@pytest.mark.req("E32")
def test_without_a_constitution_the_run_is_refused_and_names_init(flyball, repository: Path) -> None:
    Work(repository)
    (repository / ".work" / "constitution.md").write_text(" \n")
    refused = flyball("run", "--from", ".work", *FLAGS)
    assert refused.code == 2
    assert "flyball init --constitution" in refused.err


@pytest.mark.req("E32")
def test_init_writes_a_constitution_from_what_it_finds_and_only_once(flyball, repository: Path) -> None:
    (repository / "flyball.toml").write_text('[gates]\ntest = "make check"\n')
    assert flyball("init", "--constitution").code == 0
    path = repository / ".work" / "constitution.md"
    text = path.read_text()
    assert "- `make check`" in text
    assert str(repository) not in text, "a file that may be committed names no machine's paths"
    assert (repository / ".work" / "agent" / "issues").is_dir()
    path.write_text("mine\n")
    assert flyball("init", "--constitution").code == 2
    assert path.read_text() == "mine\n"
    assert flyball("init", "--constitution", "--force").code == 0


def test_a_folder_of_issues_under_another_name_is_no_backlog(flyball, repository: Path) -> None:
    (repository / "backlog" / "agent" / "issues").mkdir(parents=True)
    refused = flyball("run", "--from", "backlog", *FLAGS)
    assert refused.code == 2
    assert "is a folder" in refused.err


@pytest.mark.req("C63")
def test_a_backlog_somebody_else_works_through_is_held(flyball, repository: Path, site: Site) -> None:
    Work(repository)
    scope = tree_scope(site.repository.root / ".work")
    with Lease.take(site.journal, site.home.shared_locks, scope, this_process(system_clock.now())):
        held = flyball("run", "--from", ".work", *FLAGS)
    assert held.code == 75, held.err
    assert f"The folder {repository / '.work'} is held by process {os.getpid()} on " in held.err
    assert site.journal.tasks() == [], "what is refused leaves nothing behind that status and resume would find"


def test_an_empty_backlog_is_done_at_once(flyball, repository: Path) -> None:
    work = Work(repository)
    done = flyball("run", "--from", ".work", *FLAGS)
    assert done.code == 0, done.err
    assert "All issues completed" in done.out
    assert "git merge" not in done.out, "nothing was accepted, so there is no branch"
    assert "branch      none" in flyball("status").out
    assert "Branch: none" in flyball("report").out
    assert not list((repository / ".loop").glob("*/pull-request.md"))
    assert work.state_now()["last_decision"] == "DONE"


def test_a_block_that_cannot_be_read_is_no_done(flyball, repository: Path) -> None:
    work = Work(repository)
    work.put("low.md", "---\nid: BUG-001@aaaaaa\ntitle: [\nstatus: proposed\n---\n")
    blocked = flyball("run", "--from", ".work", *FLAGS)
    assert blocked.code == 3, blocked.out
    assert "low.md, line 7: block skipped: the header is not valid YAML" in blocked.out
