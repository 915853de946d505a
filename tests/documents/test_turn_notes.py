"""Notes of a turn: they add to what an agent says at its end, and never stand in for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from flyball.core.claims.claims import read_claim
from flyball.core.claims.values import Claim
from flyball.documents.errors import DocumentError
from flyball.documents.turn_notes import MOST_QUESTIONS, TurnNotes

NONCE = "00112233445566778899aabbccddeeff"
LAST = (
    f'```flyball-report\n{{"nonce": "{NONCE}", "status": "complete", "exit_signal": true, "summary": "did it"}}\n```\n'
)


@pytest.fixture
def notes(tmp_path: Path) -> TurnNotes:
    return TurnNotes(tmp_path / "report.json", NONCE)


def claimed(notes: TurnNotes, message: str = "") -> Claim:
    file = notes.report_file
    return read_claim(
        report_file=file.read_bytes() if file.exists() else None,
        final_message=message,
        nonce=NONCE,
        prompt="",
        echoed=lambda _: False,
    )


def wrote(notes: TurnNotes, **report: Any) -> None:
    notes.report_file.write_text(json.dumps({"nonce": NONCE, **report}))


def test_progress_is_work_under_way_and_the_last_note_stands(notes: TurnNotes) -> None:
    notes.progress("half of it")
    notes.progress("most of it")
    claim = claimed(notes)
    assert (claim.summary, claim.status, claim.exit_signal) == ("most of it", "in_progress", False)


@pytest.mark.req("C40")
def test_notes_leave_the_last_word_to_the_agents_own_report_and_only_add_their_questions(notes: TurnNotes) -> None:
    notes.progress("half of it")
    notes.question("Floats?", ("yes", "no"), "yes")
    claim = claimed(notes, LAST)
    assert (claim.summary, claim.status, claim.exit_signal) == ("did it", "complete", True)
    assert [(q.text, q.options, q.default) for q in claim.questions] == [("Floats?", ("yes", "no"), "yes")]


def test_a_report_the_agent_wrote_itself_is_kept_but_for_a_question_that_is_added(notes: TurnNotes) -> None:
    wrote(notes, status="complete", exit_signal=True, summary="did it")
    notes.progress("half of it")
    notes.question("Floats?")
    claim = claimed(notes)
    assert (claim.summary, claim.status, claim.exit_signal) == ("did it", "complete", True)
    assert [q.text for q in claim.questions] == ["Floats?"]


@pytest.mark.parametrize("text", ['{"nonce": "of another turn", "exit_signal": true}', "no JSON", "[]"])
def test_a_file_that_is_no_report_of_this_turn_is_begun_anew(notes: TurnNotes, text: str) -> None:
    notes.report_file.write_text(text)
    notes.progress("half of it")
    claim = claimed(notes)
    assert (claim.summary, claim.exit_signal, claim.problems) == ("half of it", False, ())


def test_a_question_is_asked_once_and_so_many_are_enough(notes: TurnNotes) -> None:
    for number in range(MOST_QUESTIONS):
        notes.question(f"question {number}")
        notes.question(f"question {number}")
    assert len(claimed(notes).questions) == MOST_QUESTIONS
    with pytest.raises(DocumentError, match="end it"):
        notes.question("one more")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="put it into your report"):
        TurnNotes(tmp_path / "gone" / "report.json", NONCE).progress("half of it")
