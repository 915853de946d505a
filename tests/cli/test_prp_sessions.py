"""A session of another loop beside the document a task is started from: a person decides."""

import json
from pathlib import Path

import pytest

from flyball.cli import ordering

pytestmark = pytest.mark.req("C69")


@pytest.fixture
def document(repository: Path) -> Path:
    state = {
        "session_id": "s-1",
        "prp_file": "PRP.md",
        "started_at": "2026-01-01T00:00:00Z",
        "current_phase": "QA",
        "status": "paused",
    }
    (repository / ".prp-session").mkdir()
    (repository / ".prp-session" / "loop-state.json").write_text(json.dumps(state))
    (repository / "PRP.md").write_text("# Greet\n")
    (repository / "other.md").write_text("# Other\n")
    return repository / "PRP.md"


@pytest.mark.parametrize(("word", "taken"), [("", True), ("take", True), ("new", False)])
def test_a_person_is_asked_whether_it_is_taken_up(
    document: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, taken: bool
) -> None:
    questions: list[str] = []

    def reply(text: str) -> str:
        questions.append(text)
        return word

    monkeypatch.setattr(ordering, "ask", reply)
    found = ordering.offered_session(document, document.parent, attended=True)
    assert (found is not None) is taken
    assert questions == ["take it up at QA, new or abort? [take] "]
    assert "found session s-1 (paused) on PRP.md: QA, iteration 0" in capsys.readouterr().err


def test_abort_opens_nothing(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "ask", lambda _text: "abort")
    with pytest.raises(SystemExit) as ended:
        ordering.offered_session(document, document.parent, attended=True)
    assert ended.value.code == 0


def test_a_session_on_another_document_concerns_nobody(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "ask", lambda _text: pytest.fail("nobody is to be asked"))
    assert ordering.offered_session(document.with_name("other.md"), document.parent, attended=True) is None
    assert ordering.offered_session(None, document.parent, attended=True) is None


def test_the_folder_may_lie_where_the_environment_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (document.parent / ".prp-session").rename(tmp_path / "elsewhere")
    monkeypatch.setattr(ordering, "ask", lambda _text: "take")
    assert ordering.offered_session(document, document.parent, attended=True) is None
    monkeypatch.setenv("PRP_SESSION_DIR", str(tmp_path / "elsewhere"))
    assert ordering.offered_session(document, document.parent, attended=True) is not None
