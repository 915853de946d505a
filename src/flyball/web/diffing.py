"""Diffs of a task, a checkpoint or a turn; a comment on a line becomes guidance for the next turn."""

from collections.abc import Sequence
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from flyball.core.model.naming import LOOP
from flyball.core.text.quantities import plural
from flyball.core.text.scrubbing import decode
from flyball.markup.rendering import Crumb
from flyball.ports import Refusal
from flyball.projections.history.records import CheckpointRecord
from flyball.projections.pages import changes
from flyball.projections.pages.changes import Change, checkpoints_to_offer
from flyball.projections.pages.diffs import FileDiff, files_of, find_line, theirs_first
from flyball.projections.pages.guidance import Comment, guidance, sent_comments
from flyball.projections.pages.summary import Known, Summary, summarize
from flyball.projections.wording import plain
from flyball.web.frame import crumbs_of, frame, number_in, page, read_task, redirect, refusal, sites_of
from flyball.web.hiding import hide_secrets_of
from flyball.web.starting import run_detached
from flyball.wiring.site import Site
from flyball.wiring.tasks import checkpoints
from flyball.wiring.tasks.inbox import speak

LARGEST_PATCH = 8 * 1024 * 1024
PARTS = ("since", "turn", "iteration", "item", "view")


class DiffNote(msgspec.Struct, frozen=True):
    """What somebody said of a line: a reviewer's finding, a remark of a measurement, or a person's comment."""

    by: str
    note: str
    text: str
    mine: bool


class DiffShown(msgspec.Struct, frozen=True):
    heading: str
    verdict: str
    change: Change
    files: list[FileDiff]
    choices: tuple[CheckpointRecord, ...]
    remarks: dict[tuple[str, int], list[DiffNote]]
    commenting: tuple[str, int] | None
    here: str
    unified: str
    nothing: str
    split: bool
    send: str
    send_note: str


def diff(request: Request) -> Response:
    """`/t/REPO/TASK/diff`; of a part with `?since=CHECKPOINT`, `?turn=N`, `?iteration=N` or `?item=ID`; `?view=split`."""
    with sites_of(request).lock:
        site, found = read_task(request)
        summary = summarize(found)
        try:
            change, heading = _change(request, site, found)
        except Refusal as error:
            return refusal(request, "No diff", str(error), status=404)
        files = _files(request, site, found, change)
    done = summary.status.decision == "DONE"
    able = not request.app.state.gate.read_only and summary.word != "ABORTED"
    shown = DiffShown(
        heading,
        _verdict(found, summary, change.turns),
        change,
        files,
        _choices(found, change.older),
        _remarks(found),
        _commenting(request, files) if able else None,
        _here(request, PARTS),
        _here(request, PARTS[:-1]),
        "This turn changed nothing." if request.query_params.get("turn") else "Nothing has changed.",
        request.query_params.get("view") == "split",
        "Reopen with these" if done else "Send as guidance",
        "The task is done: sending them reopens it."
        if done
        else "The next prompt contains them with file, line and code. No turn is interrupted.",
    )
    framed = frame(request, crumbs_of(summary, Crumb("diff")), live=False, can_comment=able)
    return page("diff.html", framed, t=summary, diff=shown)


def _change(request: Request, site: Site, found: Known) -> tuple[Change, str]:
    """Both commits and what the change is called; a name that is no checkpoint's, turn's or item's is refused."""
    asked, task = request.query_params, found.state.task.id
    turn = _turn(asked.get("turn", ""), asked.get("iteration", ""), found)
    if turn is not None:
        change = changes.of_turn(found.history, turn)
        if change is None:
            raise Refusal(f"Turn {turn} left no checkpoint. See: flyball checkpoints {task}")
        return change, f"What turn {turn} changed"
    item = asked.get("item", "")
    if item:
        change = changes.of_item(found.history, item)
        if change is None:
            raise Refusal(f"No checkpoint of {task} belongs to {item} alone. See: flyball checkpoints {task}")
        return change, f"What was changed for {item}"
    since = asked.get("since", "")
    _, older, newer = checkpoints.commits_to_compare(site, task, since)
    kept = checkpoints.find_checkpoint(task, checkpoints.checkpoints(site, task), since) if since else None
    heading = f"What changed since {kept.label}" if kept else "What the task changed"
    return Change(older, newer, kept.label if kept else checkpoints.START), heading


def _turn(turn: str, iteration: str, found: Known) -> int | None:
    marks = found.history.timeline.marks
    judged = number_in(iteration, 0)
    return marks[judged - 1].turn if 0 < judged <= len(marks) else number_in(turn, 0) or None


def _choices(found: Known, older: str) -> tuple[CheckpointRecord, ...]:
    """What may be compared with, oldest first: always the start, too."""
    kept = found.history.checkpoints
    return tuple({each.commit: each for each in (*kept[:1], *checkpoints_to_offer(kept, older))}.values())


def _files(request: Request, site: Site, found: Known, change: Change) -> list[FileDiff]:
    patch = site.workspace(found.state.task).diff(change.older, change.newer)[:LARGEST_PATCH]
    hidden = hide_secrets_of(request, site, found.state.task)
    files = theirs_first(files_of(hidden(decode(patch))))
    # What flyball writes into the tree between turns is the work of none.
    return [file for file in files if not (change.turns and file.path.startswith(f"{LOOP}/"))]


def _verdict(found: Known, summary: Summary, turns: frozenset[int]) -> str:
    """What was said of this change: of the last of its turns that was judged, or of the task's last one."""
    judged = next((each for each in reversed(found.history.judgements) if not turns or each.turn in turns), None)
    if judged is None:
        return "Not judged yet." if turns else summary.line
    if judged.rejected:
        return f"Rejected: {'; '.join(judged.missing) or judged.evidence}"
    return f"{judged.health}: {judged.evidence}"


def _remarks(found: Known) -> dict[tuple[str, int], list[DiffNote]]:
    notes: dict[tuple[str, int], list[DiffNote]] = {}
    for lane in found.state.lanes.values():
        for finding in lane.loop.findings:
            if finding.file and finding.line:
                remark = DiffNote("a review", finding.severity, plain(finding.message, 1000), mine=False)
                notes.setdefault((finding.file, finding.line), []).append(remark)
    for place in found.history.remarks.shown:
        remark = DiffNote("flyball", "remark", place.text, mine=False)
        notes.setdefault((place.file, place.line), []).append(remark)
    for each in sent_comments(found.history.words, found.history.turns):
        note = f"delivered with turn {each.turn}" if each.turn else f"sent {each.at:%H:%M} UTC, not delivered yet"
        remark = DiffNote("you", note, each.comment.text, mine=True)
        notes.setdefault((each.comment.path, each.comment.line), []).append(remark)
    return notes


def _commenting(request: Request, files: list[FileDiff]) -> tuple[str, int] | None:
    """The line a browser without scripts comments on: `?comment=FILE:LINE`."""
    file, _, line = request.query_params.get("comment", "").partition(":")
    number, place = number_in(file, 0), number_in(line, 0)
    return (files[number - 1].path, place) if 0 < number <= len(files) and place else None


def _here(request: Request, names: Sequence[str]) -> str:
    kept = [f"{name}={quote(request.query_params[name])}" for name in names if name in request.query_params]
    return "?" + "".join(f"{each}&" for each in kept)


def comments(request: Request, form: list[tuple[str, str]]) -> Response:
    """Comments as one word: previewed as it would stand, or sent."""
    values = dict(form)
    given = _comments_in_form(form)
    back = values.get("back", "/")
    with sites_of(request).lock:
        site, found = read_task(request)
        task = found.state.task.id
        known = {checkpoint.commit for checkpoint in found.history.checkpoints} | {found.state.main.head}
        known |= {opened.base for opened in found.history.timeline.openings}
        older, newer = values.get("older", ""), values.get("newer", "")
        files = _files(request, site, found, Change(older, newer, "")) if {older, newer} <= known else []
    written = [Comment(c.path, c.line, c.text, line.text) for c in given if (line := find_line(files, c.path, c.line))]
    if not written:
        return refusal(request, "Nothing to send", "Write a comment on a line of the diff first.", status=400)
    text = guidance(written)
    if request.url.path.endswith("/preview"):
        action = request.url.path.removesuffix("/preview")
        fields = [(name, value) for name, value in form if name != "form_token"]
        framed = frame(request, [Crumb("All", "/"), Crumb("preview")], live=False)
        told = f"{plural(len(written), 'comment')}, as the next prompt will show them."
        sending = {"action": action, "fields": fields, "button": "Send as guidance"}
        return page(
            "message.html", framed, title="Preview", text=told, command="", preview=text, form=sending, back=back
        )
    if found.state.decision == "DONE":
        return run_detached(site, ["reopen", task, text], f"/t/{site.home.name}/{task}?said=reopened")
    speak(site, task, "modify", text=text)
    return redirect(f"{back}{'&' if '?' in back else '?'}said=sent")


def _comments_in_form(form: list[tuple[str, str]]) -> list[Comment]:
    """Path, line and words come in threes, in this order or with the words first."""
    names = ("path", "line", "comment")
    columns = {name: [value for key, value in form if key == name] for name in names}
    rows = zip(*(columns[name] for name in names), strict=False)
    return [
        Comment(path, number_in(line, 0), text)
        for path, line, text in rows
        if text.strip() and number_in(line, -1) >= 0
    ]
