"""The documents of a track as the loop sees them: read as one value, and changed one value, box, row or section at a time.

They lie in the user's tree. Every change is made to what stands there now, so that nothing another program wrote is lost, and
looks first whether it was made already, so that one a kill broke off is finished by making it again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.evaluation.catalogue import BUILT_IN, EvaluatorCard
from flyball.core.evaluation.checkpoints import at_end, at_start, fix_cycles
from flyball.core.evaluation.choosing import UnknownEvaluator, choose
from flyball.core.workflows.track import effects as ed, plan_text, registers
from flyball.core.workflows.track.effects import EditTrack, ReadTrack, TrackEdited, TrackRead, TrackStale
from flyball.documents.errors import DocumentError
from flyball.documents.kept_files import KeptFolder
from flyball.documents.shared_lock import Tell, tell_nobody
from flyball.documents.track_folder import METADATA, read_track, update_metadata, write_page
from flyball.ports import Stop
from flyball.projections.files.evaluation_report import PAGE as REPORT, evaluation_report

PLAN, RETROSPECTIVE = "plan.md", "retrospective.md"
TRACKS, INDEX, LOG, ERRORS = "tracks.md", "index.md", "decision-log.md", "knowledge/errors.json"
LONGEST = 60_000
MOST_ERRORS = 500
_BUSINESS = frozenset(
    "product.md business-strategy.md tech-stack.md product-roadmap.md product-guidelines.md screen-map.md".split()
)


class _Changed(Exception):
    """A document is not what was read."""


class TrackDocuments(msgspec.Struct, frozen=True):
    """Performs the effects on documents of tracks below a repository's root; each may be repeated after a crash."""

    root: Path
    cards: Sequence[EvaluatorCard]
    tell: Tell = tell_nobody

    def read(self, request: ReadTrack) -> TrackRead:
        """The track as its files say, with what other tracks plan and what is known of earlier errors."""
        try:
            track = read_track(request.path, self.root)
            chosen = choose(track.metadata, track.spec, self.cards)
        except (DocumentError, UnknownEvaluator) as error:
            raise DocumentError(f"{request.path}: {error}") from error
        folder, above = self.root / request.path, self._above(request.path)
        loop = _object(track.metadata.get("loop_state"))
        plan = _object(_object(loop.get("checkpoints")).get("PLAN"))
        return TrackRead(
            track.folder,
            str(track.metadata.get("name") or track.folder),
            track.spec[:LONGEST],
            _text(folder / PLAN),
            track.product[:LONGEST],
            chosen,
            tuple(card for card in self.cards if card not in BUILT_IN and card.name in {each.name for each in chosen}),
            {each: digest for each in (PLAN, METADATA) if (digest := _digest(folder / each))},
            fix_cycles(track.metadata),
            _number(loop.get("max_fix_cycles")),
            _number(loop.get("max_plan_revisions")),
            _number(plan.get("plan_version")) or 0,
            str(track.metadata.get("status", "")).startswith("complete"),
            tuple(_elsewhere(above, track.folder)),
            tuple(_errors(above / ERRORS)),
            tuple(_documents(above, self.root)),
        )

    def edit(self, request: EditTrack, stop: Stop) -> TrackEdited | TrackStale:
        """Make the edits in their order; whoever holds the track's lock is waited for until the stop."""
        try:
            for edit in request.edits:
                self._make(edit, request, stop)
        except _Changed as changed:
            return TrackStale(str(changed))
        except (DocumentError, OSError, ValueError) as error:
            raise DocumentError(f"{request.path} cannot be written: {error}") from error
        return TrackEdited()

    def _make(self, edit: ed.Edit, request: EditTrack, stop: Stop) -> None:  # noqa: C901 - one short case for each edit
        match edit:
            case ed.SetMetadata(values=values):
                self._metadata(request, stop, lambda _known: values)
            case ed.SetBox():
                self._edit_plan(request, lambda text: plan_text.with_box(text, edit.task, edit.mark))
            case ed.MarkDone():
                self._edit_plan(request, lambda text: plan_text.with_done(text, edit.task, edit.sha, edit.summary))
            case ed.AddLines():
                self._edit_plan(request, lambda text: plan_text.with_section(text, edit.heading, edit.lines))
            case ed.WritePlan():
                self._write_plan(edit, request)
            case ed.BeginEvaluation(at=at):
                self._metadata(request, stop, lambda _known: at_start(at))
            case ed.WriteEvaluation():
                self._write_evaluation(edit, request, stop)
            case ed.KeepErrors(entries=entries, on=on):
                self._beside(request, ERRORS, lambda text: registers.with_errors(text, entries, on), make=True)
            case ed.LogDecision():
                row = (edit.date, edit.decision, edit.source, edit.documents, edit.commit)
                self._beside(request, LOG, lambda text: registers.with_decision(text, *row), make=True)
            case ed.CompleteTrack():
                self._complete(edit, request, stop)

    def _write_plan(self, edit: ed.WritePlan, request: EditTrack) -> None:
        """A new version of the plan takes the place of what was read; a version that stood there is kept beside it."""
        folder = self.root / request.path
        there = _text(folder / PLAN)
        if there == edit.text:
            return
        if _digest(folder / PLAN) != request.seen.get(PLAN, ""):
            raise _Changed(PLAN)
        if there.strip():
            self._change(request.path, f"plan-v{edit.version - 1}.md", lambda text: text or there)
        write_page(folder, PLAN, edit.text)

    def _write_evaluation(self, edit: ed.WriteEvaluation, request: EditTrack, stop: Stop) -> None:
        """The report, then the verdict in the metadata: once it stands there it is not counted a second time."""
        report = evaluation_report(edit.evaluation, datetime.fromisoformat(edit.at))
        write_page(self.root / request.path, REPORT, report)

        def verdict(known: Any) -> dict[str, Any]:
            step = _object(_object(_object(known.get("loop_state")).get("checkpoints")).get("EVALUATE_EXECUTION"))
            return {} if step.get("completed_at") == edit.at else at_end(edit.evaluation, known, edit.at)

        self._metadata(request, stop, verdict)

    def _complete(self, edit: ed.CompleteTrack, request: EditTrack, stop: Stop) -> None:
        track = read_track(request.path, self.root)
        name, date = str(track.metadata.get("name") or track.folder), edit.at[:10]
        loop = {"current_step": "COMPLETE", "step_status": "PASSED"}
        values = {"status": "complete", "updated_at": edit.at, "completed_at": edit.at, "loop_state": loop}
        self._metadata(request, stop, lambda _known: values)
        row = (track.folder, name, date, edit.summary)
        self._beside(request, TRACKS, lambda text: registers.with_ticked(registers.with_completed(text, *row), row[0]))
        self._beside(request, INDEX, lambda text: registers.with_ticked(text, track.folder))
        if edit.retrospective:
            write_page(self.root / request.path, RETROSPECTIVE, edit.retrospective)

    def _metadata(self, request: EditTrack, stop: Stop, values: Callable[[Any], dict[str, Any]]) -> None:
        update_metadata(self.root / request.path, values, tell=self.tell, is_over=stop.is_set)

    def _edit_plan(self, request: EditTrack, change: Callable[[str], str]) -> None:
        try:
            self._change(request.path, PLAN, change)
        except plan_text.TaskNotFound as error:
            raise _Changed(f"{PLAN}: {error}") from error

    def _beside(self, request: EditTrack, name: str, change: Callable[[str], str], *, make: bool = False) -> None:
        """Change a page of all tracks; one that is not there is made only where it is flyball's to begin."""
        path = self._above(request.path) / name
        if not path.is_file():
            if not make:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
        self._change(path.parent.relative_to(self.root).as_posix(), path.name, change)

    def _change(self, folder: str, name: str, change: Callable[[str], str]) -> None:
        def apply(raw: bytes | None) -> bytes:
            try:
                return change((raw or b"").decode("utf-8")).encode()
            except (UnicodeDecodeError, JSONDecodeError, RecursionError) as error:
                raise DocumentError(f"{folder}/{name} cannot be read ({error}); fix it and go on.") from error

        with KeptFolder.below(self.root, *Path(folder).parts) as kept:
            kept.edit(name, apply)

    def _above(self, path: str) -> Path:
        """The folder of all tracks: `conductor/` where the track lies in its place, else the folder around the track's."""
        folder = self.root / path
        return folder.parents[1] if folder.parent.name == "tracks" else folder.parent


def _elsewhere(above: Path, own: str) -> Iterator[tuple[str, str]]:
    """Files that open tasks of other tracks in progress name."""
    for folder in sorted((above / "tracks").glob("*/")):
        if folder.name == own or _read_json(folder / METADATA).get("status") != "in_progress":
            continue
        for task in plan_text.read_tasks(_text(folder / PLAN)).tasks:
            if task.page.box != "x" and not task.page.deferred:
                yield from ((path, folder.name) for path in task.item.files)


def _text(path: Path) -> str:
    try:
        return path.read_bytes()[:2_000_000].decode("utf-8", "replace")
    except OSError:
        return ""


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_json(path: Path) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return _object(json.loads(_text(path)))
    return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _errors(path: Path) -> Iterator[dict[str, str]]:
    entries = _read_json(path).get("errors")
    for entry in (entries if isinstance(entries, list) else [])[:MOST_ERRORS]:
        if isinstance(entry, dict):
            yield {key: str(entry.get(key, ""))[:500] for key in ("pattern", "problem", "solution")}


def _documents(above: Path, root: Path) -> Iterator[str]:
    for path in sorted(above.rglob("*.md")):
        if path.name in _BUSINESS and "archive" not in path.as_posix():
            yield path.relative_to(root).as_posix()
