"""`flyball learnings`: what is known, in which state, why it would be shown, and a person's word about it."""

import json
from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.support.builders import Story, tdd_task

from flyball.clock import system_clock
from flyball.core.model.events import LearningRecorded, PersonSpoke, TaskStopped
from flyball.core.model.task import TaskId
from flyball.wiring.run.manual_session import manual_session

CSV = LearningRecorded(
    1, "decision", "Rows of the export", choice="use the csv module", source="report", files=("README.md",)
)
FALL = LearningRecorded(2, "anti-pattern", "rolled back to RED", context="regexes lost the quotes", source="rollback")


def worked(number: int, *facts: LearningRecorded) -> Story:
    story = Story(replace(tdd_task(), id=TaskId(f"00{number}-parse-rows")))
    story.at = system_clock.now() - timedelta(hours=1)
    return story.start().iterate(held=True, signal=True).add(*facts).leave("GREEN")


def rows(flyball, *said: str) -> dict[str, dict[str, object]]:
    return {row["id"]: row for row in json.loads(flyball("learnings", *said, "--json").out)}


@pytest.mark.req("O41")
def test_all_learnings_are_listed_with_state_file_and_task(told, flyball):
    assert "No learning yet" in flyball("learnings").out
    told(worked(1, CSV, FALL))
    told(worked(2, replace(CSV, title="Rows", choice="use JSON", supersedes=("001-parse-rows/1",))))
    found = rows(flyball)
    assert {key: row["state"] for key, row in found.items()} == {
        "001-parse-rows/1": "superseded",
        "001-parse-rows/2": "kept",
        "002-parse-rows/1": "kept",
    }
    assert found["001-parse-rows/1"]["because"] == "superseded by 002-parse-rows/1"
    assert found["001-parse-rows/1"]["file"] == ".loop/001-parse-rows/learnings/001-rows-of-export.md"
    text = flyball("learnings").out
    assert "001-parse-rows/2 (anti-pattern)  rolled back to RED" in text
    assert (
        "    superseded: superseded by 002-parse-rows/1; .loop/001-parse-rows/learnings/001-rows-of-export.md" in text
    )


@pytest.mark.req("O41")
def test_words_and_files_show_what_a_turn_would_be_given_and_why(told, flyball, repository):
    told(worked(1, CSV, replace(FALL, context="the login form broke", title="login")))
    found = rows(flyball, "export", "rows", "--file", "README.md")
    assert list(found) == ["001-parse-rows/1"]
    row = found["001-parse-rows/1"]
    assert row["shown"] is True
    assert str(row["why"]).startswith("shares README.md, shared words")
    assert "would be shown: " in flyball("learnings", "export", "rows", "--file", "README.md").out
    assert rows(flyball, "export")["001-parse-rows/1"]["shown"] is False, "one shared word is too little"
    assert flyball("learnings", "elephants").out == "No learning fits.\n"
    (repository / "README.md").unlink()
    assert rows(flyball, "export", "rows")["001-parse-rows/1"]["state"] == "stale"


@pytest.mark.req("O41")
def test_drop_and_keep_are_a_persons_words_and_facts(told, flyball, site):
    task = told(worked(1, CSV, FALL))
    assert "drop needs a reason" in flyball("learnings", "drop", "1").err
    done = flyball("learnings", "drop", "1", "--because", "rows are JSON now")
    assert done.out == "001-parse-rows/1 was dropped and is shown to no turn from now on.\n"
    assert rows(flyball)["001-parse-rows/1"]["state"] == "dropped"
    spoken = [e.fact for e in site.journal.read(task) if isinstance(e.fact, PersonSpoke)]
    assert spoken == [PersonSpoke("drop", "1 because rows are JSON now")]
    page = site.repository.root / ".loop" / task / "learnings" / "001-rows-of-export.md"
    assert "**Status**: DECISION (dropped: a person dropped it: rows are JSON now)" in page.read_text()
    told(worked(2, CSV))
    assert flyball("learnings", "keep", "1/1").out.startswith("001-parse-rows/1 was kept")
    assert rows(flyball)["001-parse-rows/1"]["state"] == "kept"
    assert flyball("learnings", "drop", "2/9", "--because", "x").err == (
        "flyball: there is no learning 002-parse-rows/9. See: flyball learnings\n"
    )
    assert "names no learning; expected drop and a number" in flyball("learnings", "drop").err


@pytest.mark.req("O41")
def test_a_finished_task_hears_it_and_a_running_one_finds_it_in_its_inbox(told, flyball, site):
    finished = told(worked(1, CSV).add(TaskStopped("done", "gates passed")))
    flyball("learnings", "drop", "1", "--because", "old")
    assert site.state(finished).decision == "DONE"
    assert rows(flyball)["001-parse-rows/1"]["state"] == "dropped"
    with manual_session(site, finished):
        said = flyball("learnings", "keep", "1")
    assert said.out == "keep 001-parse-rows/1 was sent to its task, which is running.\n"
    assert [(word.word, word.text) for word in site.journal.pending(finished)] == [("keep", "1")]


@pytest.mark.req("O41")
def test_text_of_others_is_listed_and_reaches_no_prompt_until_a_person_keeps_it(told, flyball, site, repository):
    task = told(worked(1))
    page = repository / ".loop" / "007-a-fork" / "learnings" / "003-rows-lines.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Decision 003: Rows in lines\n\n## Choice\nparse the rows by lines\n\n## Consequences\nfast\n")
    (page.parent / "004-link.md").symlink_to(page)
    (repository / ".loop" / "008-linked").symlink_to(page.parent.parent)
    found = rows(flyball)
    assert found["007-a-fork/3"]["state"] == "text of others"
    assert "007-a-fork/4" not in found
    assert "008-linked/3" not in found, "no folder is followed, either"
    asked = "Rows in lines"
    assert asked not in flyball("prompt", "implementer", "1").out
    assert "nothing to drop" in flyball("learnings", "drop", "007-a-fork/3", "--because", "x").err
    kept = flyball("learnings", "keep", "007-a-fork/3")
    assert kept.out == (
        ".loop/007-a-fork/learnings/003-rows-lines.md is kept as 001-parse-rows/1 and can be shown to turns from now on.\n"
    )
    assert rows(flyball)[f"{task}/1"]["state"] == "kept"
    assert asked in flyball("prompt", "implementer", "1").out
