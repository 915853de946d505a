"""The documents of a track on disk: smallest edits, other writers' words kept, edits made twice made once."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.findings import PassResult, TrackDefect, evaluator_result
from flyball.core.evaluation.verdict import TrackEvaluation, aggregate
from flyball.core.model.task import EffectId
from flyball.core.workflows.track import effects as ed, plan_text
from flyball.core.workflows.track.effects import Edit, EditTrack, ReadTrack, TrackEdited, TrackRead, TrackStale
from flyball.documents.errors import DocumentError
from flyball.documents.track_documents import (
    TrackDocuments,
)
from flyball.documents.track_folder import LOCK
from flyball.ports import Stop
from flyball.process.stop import StopFlag

TRACK = "conductor/tracks/form_20261117"
AT = "2026-11-17T10:00:00Z"
PLAN = "# Plan\r\n\r\n- [ ] Task 1.1: build it\r\n  - Acceptance: it shows\r\n  - Files: `form.py`\r\n"
METADATA = '{\n    "track_id": "form_20261117",\n    "name": "Form",\n    "type": "feature",\n    "own": {"key": 1},\n    "loop_state": {"max_fix_cycles": 5}\n}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / TRACK
    folder.mkdir(parents=True)
    (folder / "spec.md").write_text("Implement a form.\n")
    (folder / "plan.md").write_bytes(PLAN.encode())
    (folder / "metadata.json").write_text(METADATA)
    (tmp_path / "conductor/product.md").write_text("# Product\n")
    return tmp_path


def documents(root: Path) -> TrackDocuments:
    return TrackDocuments(root, BUILT_IN)


def read(root: Path) -> TrackRead:
    return documents(root).read(ReadTrack(EffectId("read/track-1"), path=TRACK))


def edit(
    root: Path, *edits: Edit, seen: dict[str, str] | None = None, stop: Stop | None = None
) -> TrackEdited | TrackStale:
    files = read(root).files if seen is None else seen
    request = EditTrack(EffectId("edit/1"), path=TRACK, seen=files, edits=edits)
    return documents(root).edit(request, stop or StopFlag())


def evaluation(verdict: str) -> TrackEvaluation:
    found = (TrackDefect("rule", "it leaks", "form.py", 3, new=True),) if verdict == "FAIL" else ()
    passes = [PassResult("type safety", "fail" if found else "pass", found)]
    result = evaluator_result("code-quality", ("word: implement",), passes, measured_only=False)
    return aggregate("form_20261117", [result], (), BusinessSync())


def metadata(root: Path) -> Any:
    return json.loads((root / TRACK / "metadata.json").read_text())


@pytest.mark.req("D1", "D40")
def test_a_track_is_read_with_its_limits_its_evaluators_and_its_plan(root: Path) -> None:
    found = read(root)
    assert (found.track, found.title, found.max_fix_cycles) == ("form_20261117", "Form", 5)
    assert [each.name for each in found.chosen] == ["code-quality"]
    assert found.plan == PLAN
    assert found.documents == ("conductor/product.md",)


@pytest.mark.req("D40")
def test_files_of_other_tracks_in_progress_are_known(root: Path) -> None:
    other = root / "conductor/tracks/mail_20261101"
    other.mkdir()
    (other / "metadata.json").write_text('{"status": "in_progress"}')
    (other / "plan.md").write_text(
        "- [ ] Task 1: send\n  - Files: `mail.py`\n- [x] Task 2: sent\n  - Files: `old.py`\n"
    )
    assert read(root).elsewhere == (("mail.py", "mail_20261101"),)


@pytest.mark.req("D31", "D40")
def test_a_done_task_changes_one_line_adds_one_and_keeps_every_other_byte(root: Path) -> None:
    done = ed.MarkDone("1.1", "abc123456789", "two fields")
    assert isinstance(edit(root, done), TrackEdited)
    expected = PLAN.replace("- [ ] Task 1.1: build it", "- [x] Task 1.1: build it <!-- abc123456789 -->")
    assert (root / TRACK / "plan.md").read_bytes() == (expected + "  - two fields\r\n").encode()
    edit(root, done)
    assert (root / TRACK / "plan.md").read_bytes() == (expected + "  - two fields\r\n").encode()


@pytest.mark.req("D31")
def test_a_verdict_is_written_once_and_keeps_what_others_wrote(root: Path) -> None:
    wrote = ed.WriteEvaluation(evaluation("FAIL"), AT)
    edit(root, ed.BeginEvaluation("2026-11-17T09:00:00Z"), wrote)
    edit(root, wrote)
    found = metadata(root)
    assert found["loop_state"]["fix_cycle_count"] == 1, "an edit made again after a kill counts once"
    assert found["loop_state"]["current_step"] == "FIX"
    assert found["own"] == {"key": 1}
    assert found["loop_state"]["max_fix_cycles"] == 5
    assert '    "own": {"key": 1},\n' in (root / TRACK / "metadata.json").read_text()
    assert "it leaks" in (root / TRACK / "evaluation-report.md").read_text()
    assert not (root / TRACK / ".metadata.lock").exists()


@pytest.mark.req("D40")
def test_a_new_plan_keeps_the_older_version_and_never_takes_the_place_of_an_edit(root: Path) -> None:
    seen = read(root).files
    assert isinstance(edit(root, ed.WritePlan("# Plan\n- [ ] Task 1: new\n", 2)), TrackEdited)
    assert (root / TRACK / "plan-v1.md").read_bytes() == PLAN.encode()
    (root / TRACK / "plan.md").write_text("a person's own\n")
    assert isinstance(edit(root, ed.WritePlan("# other\n", 3), seen=seen), TrackStale)
    assert (root / TRACK / "plan.md").read_text() == "a person's own\n"


@pytest.mark.req("D40")
def test_a_completed_track_is_told_of_in_the_pages_of_all_tracks(root: Path) -> None:
    (root / "conductor/tracks.md").write_text(
        "## Active\n| Track ID | Name |\n|---|---|\n| form_20261117 | Form |\n\n## Completed\n| Track ID | Name | Completed | Summary |\n|---|---|---|---|\n"
    )
    (root / "conductor/index.md").write_text("- [ ] form_20261117\n")
    edit(root, ed.CompleteTrack(AT, "1 task done", "# Retrospective\n"))
    assert metadata(root)["status"] == "complete"
    assert "| form_20261117 | Form | 2026-11-17 | 1 task done |" in (root / "conductor/tracks.md").read_text()
    assert (root / "conductor/index.md").read_text() == "- [x] form_20261117\n"
    assert (root / TRACK / "retrospective.md").read_text() == "# Retrospective\n"


@pytest.mark.req("D40", "D41")
def test_errors_and_decisions_are_begun_where_there_are_none(root: Path) -> None:
    entry = {"pattern": "x", "problem": "p", "solution": "s", "discovered_in": "form"}
    edit(root, ed.KeepErrors((entry,), "2026-11-17"), ed.LogDecision("2026-11-17", "d", "form", ("product.md",), "abc"))
    assert read(root).known_errors == ({"pattern": "x", "problem": "p", "solution": "s"},)
    assert "| 2026-11-17 | d | form | product.md | abc |" in (root / "conductor/decision-log.md").read_text()


def test_a_task_that_is_gone_from_the_page_is_stale_and_broken_metadata_is_named(root: Path) -> None:
    assert isinstance(edit(root, ed.SetBox("9.9", "x")), TrackStale)
    (root / TRACK / "metadata.json").write_text("{")
    with pytest.raises(DocumentError, match=r"metadata\.json"):
        read(root)


@pytest.mark.req("D31")
@pytest.mark.parametrize(
    "raw",
    [
        b'\xef\xbb\xbf{\r\n\t"own": 12345678901234567890123\r\n}',
        b'{"own": [1,\n2]  ,"loop_state":null}',
        b'{"loop_state": {"checkpoints": {"EVALUATE_EXECUTION": {"verdict": "PASS", "own": 1, "verdict": "PASS"}}}}',
    ],
    ids=["mark, tab, large number", "odd spaces", "twice the same name"],
)
def test_metadata_in_whatever_style_keeps_what_is_not_ours(root: Path, raw: bytes) -> None:
    page = root / TRACK / "metadata.json"
    page.write_bytes(raw)
    edit(root, ed.BeginEvaluation(AT))
    text = page.read_bytes().decode("utf-8-sig")
    assert json.loads(text)["loop_state"]["current_step"] == "EVALUATE_EXECUTION"
    assert "PASS" not in text, "an earlier verdict no longer stands"
    assert text.count("\n") == text.count("\r\n") or b"\r" not in raw
    own = b'"own": 1' if b"verdict" in raw else raw.removeprefix(b"\xef\xbb\xbf")[:24]
    assert own in page.read_bytes()


@pytest.mark.parametrize(
    "raw", [b'{"a": NaN}', b'{"a": 1,}', b'{"a": 1 // no\n}', b"[1]", b"", b'{"a": "\xe9"}', b"[" * 9000], ids=repr
)
def test_metadata_that_is_no_json_object_is_refused_by_name_and_stays(root: Path, raw: bytes) -> None:
    (root / TRACK / "metadata.json").write_bytes(raw)
    with pytest.raises(DocumentError, match=r"metadata\.json is not a JSON object"):
        read(root)
    assert (root / TRACK / "metadata.json").read_bytes() == raw


@pytest.mark.parametrize("place", [f"{TRACK}/plan.md", "conductor/tracks.md", "conductor/knowledge/errors.json"])
def test_a_document_that_is_a_link_or_no_text_is_refused_by_name_and_stays(root: Path, place: str) -> None:
    entry = {"pattern": "x", "problem": "p", "solution": "s", "discovered_in": "form"}
    wanted = (ed.MarkDone("1.1", "abc", "x"), ed.CompleteTrack(AT, "x"), ed.KeepErrors((entry,), "2026-11-17"))
    page, seen = root / place, read(root).files
    page.parent.mkdir(exist_ok=True)
    page.write_bytes(b"# \xe9\n")
    with pytest.raises(DocumentError, match=page.name):
        edit(root, *wanted, seen=seen)
    assert page.read_bytes() == b"# \xe9\n"
    page.rename(root / "real")
    page.symlink_to(root / "real")
    with pytest.raises(DocumentError, match="not a link"):
        edit(root, *wanted, seen=seen)
    assert (root / "real").read_bytes() == b"# \xe9\n"


@pytest.mark.req("D40")
def test_what_an_editor_saves_while_a_box_is_ticked_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, real, saves = root / TRACK / "plan.md", plan_text.with_done, [b"\r\nOne more line.\r\n", b"And one.\r\n"]

    def slowly(text: str, id_: str, sha: str, summary: str) -> str:
        if saves:
            page.write_bytes(page.read_bytes() + saves.pop(0))
        return real(text, id_, sha, summary)

    monkeypatch.setattr(plan_text, "with_done", slowly)
    edit(root, ed.MarkDone("1.1", "abc123456789", "two fields"))
    text = page.read_text()
    assert "[x] Task 1.1" in text
    assert text.endswith("\nOne more line.\nAnd one.\n")


def test_an_empty_plan_is_none_and_a_list_of_tracks_gets_its_box(root: Path) -> None:
    (root / TRACK / "plan.md").write_bytes(b"\xef\xbb\xbf\r\n")
    assert read(root).plan.strip("\ufeff\r\n") == ""
    (root / "conductor/tracks.md").write_text("- [~] form_20261117\n- [ ] form_20261117b\n")
    edit(root, ed.CompleteTrack(AT, "1 task done"))
    assert (root / "conductor/tracks.md").read_text() == "- [x] form_20261117\n- [ ] form_20261117b\n"


def test_a_stop_ends_the_wait_for_a_lock_that_another_program_holds(root: Path) -> None:
    (root / TRACK / LOCK).mkdir()
    before = (root / TRACK / "metadata.json").read_bytes()
    stop = StopFlag()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(DocumentError, match="is held by another program"):
        edit(root, ed.SetMetadata({"status": "new"}), stop=stop)
    assert (root / TRACK / "metadata.json").read_bytes() == before
