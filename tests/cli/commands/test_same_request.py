"""A request that is being worked on already is not opened a second time without a word."""

import pytest

from flyball.cli import ordering

HOW = ("--sandbox", "none", "--agent-command", "true", "--gate", "test=sh -c no-such-program")


@pytest.fixture
def blocked(repository, flyball):
    assert flyball("run", "Parse the rows", "--unattended", *HOW).code == 3


def names(site):
    return [record.id for record in site.journal.tasks()]


@pytest.mark.req("C9")
@pytest.mark.req("C64")
@pytest.mark.parametrize("words", ["Parse the rows", "  parse the\nrows. "])
def test_unattended_the_unfinished_task_is_resumed_and_new_opens_another(blocked, site, flyball, words):
    again = flyball("run", words, "--unattended", *HOW)
    assert again.code == 3
    assert "001-parse-the-rows has the same request and is unfinished" in again.err
    assert "--new" in again.err
    assert names(site) == ["001-parse-the-rows"]
    flyball("run", words, "--unattended", "--new", *HOW)
    assert len(names(site)) == 2


@pytest.mark.req("C9")
@pytest.mark.parametrize(("answer", "tasks", "code"), [("resume", 1, 3), ("", 1, 3), ("new", 2, 3), ("abort", 1, 0)])
def test_attended_it_is_asked_whether_to_resume_begin_anew_or_abort(
    blocked, site, flyball, monkeypatch, answer, tasks, code
):
    asked = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        return answer if len(asked) == 1 else ""

    monkeypatch.setattr(ordering, "ask", reply)
    done = flyball("run", "Parse the rows", "--attended", *HOW)
    assert "found 001-parse-the-rows at IMPLEMENT, iteration 0" in done.err
    assert asked[0] == "resume, new or abort? [resume] "
    assert (len(names(site)), done.code) == (tasks, code), done.err


@pytest.mark.req("C9")
def test_another_request_and_a_finished_one_start_anew(blocked, site, flyball):
    flyball("run", "Parse the columns", "--unattended", *HOW)
    assert len(names(site)) == 2
    assert flyball("abort", "001").code == 0
    flyball("run", "Parse the rows", "--unattended", *HOW)
    assert len(names(site)) == 3
