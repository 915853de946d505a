"""A turn as it is read: what the agent says beside what was measured, and its conversation a page at a time."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from flyball.agents.display.display import Shown
from flyball.core.model.effects import Ask, Measure, RunAgent, Wait
from flyball.core.model.events import Begun
from flyball.core.model.task import TaskId
from flyball.projections.history.records import Judgement, TurnRecord
from flyball.projections.pages.chips import Chip, verdict_chip
from flyball.projections.pages.summary import Known
from flyball.projections.wording import duration, plain
from flyball.web.frame import number_in
from flyball.web.hiding import Hide
from flyball.wiring.site import Site
from flyball.wiring.tasks.transcripts import PAGE, Bytes, Page, kept_files, read_bytes, read_page

LONGEST_PART = 20_000
MANY_LINES, FIRST_LINES, LAST_LINES = 400, 40, 120


class Part(msgspec.Struct):
    """Words of the agent, or a call with what came of it."""

    kind: str
    text: str = ""
    first: bool = False
    name: str = ""
    line: str = ""
    body: str = ""
    note: str = ""
    result: bool = False
    failed: bool = False


class OutlineEntry(msgspec.Struct, frozen=True):
    id: str
    name: str
    count: str = ""


class TurnPage(msgspec.Struct):
    record: TurnRecord
    heading: str
    meta: str
    says: str
    differs: bool
    measured: str
    measured_note: str
    verdict: Chip | None
    decision: str
    verdict_line: str
    previous: int
    next: int
    view: str
    prompt: str
    prompt_line: str
    prompt_lines: int
    report: str
    report_note: str
    files: tuple[str, ...]
    parts: list[Part] = []
    outline: list[OutlineEntry] = []
    earlier: int | None = None
    later: int | None = None
    raw: Bytes | None = None


def turn_shown(site: Site, found: Known, number: int, query: Mapping[str, str], hidden: Hide) -> TurnPage:
    """The page of a turn; raises KeyError where there was none."""
    record = found.history.turn(number)
    if record is None:
        raise KeyError(number)
    files = kept_files(site, found.state.task.id, number)
    judged = next((j for j in found.history.judgements if j.turn == number), None)
    mark = next((m for m in found.history.timeline.marks if m.turn == number), None)
    view = next((name for name in ("raw", "words") if query.get("view") == name), "")
    prompt = _prompt(site, found.state.task.id, record)
    report = read_bytes(files["report.json"], 0).text[:LONGEST_PART] if "report.json" in files else ""
    shown = TurnPage(
        record=record,
        heading=f"{record.role}{f' on {record.item}' if record.item else ''}",
        meta=_meta(record),
        says=_says(record),
        differs=bool(judged and (judged.false_claim or judged.disagreements)),
        measured=measured_of(found, record),
        measured_note="; ".join(judged.missing) if judged else "",
        verdict=verdict_chip(mark.kind) if mark else None,
        decision="COMPLETE" if judged and judged.can_exit else "CONTINUE",
        verdict_line=_verdict_line(judged),
        previous=number - 1 if found.history.turn(number - 1) else 0,
        next=number + 1 if found.history.turn(number + 1) else 0,
        view=view,
        prompt=_middle_out(prompt),
        prompt_line=plain(next((x for x in prompt.splitlines() if x.strip()), ""), 120),
        prompt_lines=prompt.count("\n") + 1 if prompt else 0,
        report=hidden(report),
        report_note=record.source if record.source != "none" else "not read",
        files=tuple(files),
    )
    at = number_in(query.get("at", ""), 0)
    if view == "raw":
        name = query.get("file", "stdout")
        if name in files:
            raw = read_bytes(files[name], at)
            shown.raw = replace(raw, text=hidden(raw.text))
            shown.earlier, shown.later = _neighbours(raw)
        return shown
    if "stdout" in files:
        read = read_page(found.state.task, record.agent, files["stdout"], at)
        shown.parts = [_without_secrets(part, hidden) for part in parts_of(read.shown)]
        shown.earlier, shown.later = _neighbours(read)
    shown.outline = _outline(shown)
    return shown


def _neighbours(read: Bytes | Page) -> tuple[int | None, int | None]:
    """Where the page before and the page after begin, where there is one."""
    return max(0, read.start - PAGE) if read.start else None, read.end if read.end < read.size else None


def _without_secrets(part: Part, hidden: Hide) -> Part:
    """A turn that is under way has its secrets taken out of what it printed only when it ends."""
    return replace(part, text=hidden(part.text), line=hidden(part.line), body=hidden(part.body))


def _prompt(site: Site, task: TaskId, record: TurnRecord) -> str:
    prompt = ""
    for event in site.journal.read(task):
        match event.fact:
            case Begun(effect=RunAgent(turn=record.number) as effect):
                prompt = effect.prompt
    return prompt


def _meta(record: TurnRecord) -> str:
    model = f", {record.model}" if record.model else ""
    parts = [f"{record.agent}{model}", f"{record.stage} iteration {record.iteration}"]
    until = f" to {record.ended_at:%H:%M}" if record.ended_at else ""
    took = f", {duration(record.seconds)}" if record.ended_at else ", under way"
    parts.append(f"{record.begun_at:%H:%M}{until} UTC{took}")
    usage = record.usage
    if usage.tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    if usage.usd:
        parts.append(f"{'about ' if usage.estimated else ''}${usage.usd:.2f}")
    if record.outcome:
        parts.append(f"ended {record.outcome.replace('_', ' ')}{f': {record.detail}' if record.detail else ''}")
    if record.set_aside:
        parts.append(f"not counted: {record.set_aside}")
    return " · ".join(parts)


def _says(record: TurnRecord) -> str:
    said = [record.status.replace("_", " ")] if record.status else []
    said += [f"verdict {record.verdict}"] if record.verdict else []
    said += ["done"] if record.exit_signal else []
    return ", ".join(said) or ("nothing about its work" if record.outcome else "nothing yet")


def measured_of(found: Known, record: TurnRecord) -> str:
    """What was measured after a turn; while its task works on and no later turn has begun on the same thing, it may still come."""
    mark = next((mark for mark in found.history.timeline.marks if mark.turn == record.number), None)
    if mark is not None:
        counts = mark.counts
        still = f", {counts.known_failing} known failing" if counts.known_failing else ""
        return f"{counts.passing} passed, {counts.failing} failed{still}" if counts.total else "no counted tests"
    under_way = list(found.state.open.values())
    later = any(each.number > record.number and each.item == record.item for each in found.history.turns)
    waits = bool(under_way) and all(isinstance(effect, Ask | Wait) for effect in under_way)
    if later or waits or not found.running or record.set_aside:
        return "nothing: the turn was not judged"
    if any(isinstance(effect, Measure) for effect in under_way):
        return "nothing yet: it is being measured"
    return "nothing yet: its verdict is still to come"


def _verdict_line(judged: Judgement | None) -> str:
    if judged is None:
        return ""
    told = f"{judged.health}: {judged.evidence}"
    if judged.false_claim:
        told += "; false claim, told in the next prompt"
    return f"{told}; remedy: {judged.rung}" if judged.rung else told


def parts_of(shown: Sequence[Shown]) -> list[Part]:
    """Words as prose; a call with its result is one part; neighbouring calls of one tool that only look are one."""
    parts: list[Part] = []
    for each in shown:
        last = parts[-1] if parts else None
        if each.kind in {"text", "notice"}:
            if last is not None and last.kind == "words" and len(last.text) < LONGEST_PART and each.kind == "text":
                last.text += f"\n{each.text[:LONGEST_PART]}"
            else:
                parts.append(Part("words", each.text[:LONGEST_PART], first=last is None or last.kind != "words"))
        elif each.kind == "piece":
            if last is not None and last.kind == "words":
                last.text += each.text[:LONGEST_PART]
            else:
                parts.append(Part("words", each.text[:LONGEST_PART], first=True))
        elif each.kind == "call":
            _call(parts, each.text)
        elif last is not None and last.kind == "call":
            last.result = True
            last.failed = last.failed or each.kind == "failure"
            text = _middle_out(each.text)
            if last.failed:
                text = "\n".join(text.splitlines()[-12:])
            last.body = f"{last.body}\n{text}".strip() if last.body else text
    return parts


def _call(parts: list[Part], text: str) -> None:
    name, _, line = text.partition(" ")
    last = parts[-1] if parts else None
    if last is not None and last.kind == "call" and last.name == name == "Read":
        count = int(last.note.partition(" ")[0]) + 1 if last.note else 2
        last.note, last.line = f"{count} reads", plain(f"{last.line}, {line}", 300)
        return
    parts.append(Part("call", name=plain(name, 60), line=plain(line, 300)))


def _middle_out(text: str) -> str:
    """A very long output: its beginning and its end, and how much was left out."""
    text = text[: 40 * LONGEST_PART]
    lines = [line[:2000] for line in text.splitlines()]
    if len(lines) > MANY_LINES:
        left = len(lines) - FIRST_LINES - LAST_LINES
        lines = [*lines[:FIRST_LINES], f"… {left} lines left out; Raw has them …", *lines[-LAST_LINES:]]
    return "\n".join(lines)


def _outline(shown: TurnPage) -> list[OutlineEntry]:
    entries = [OutlineEntry("prompt", "Prompt", f"{shown.prompt_lines} lines")] if shown.prompt else []
    firsts: dict[str, tuple[int, int]] = {}
    for place, part in enumerate(shown.parts, 1):
        if part.kind == "call":
            first, count = firsts.get(part.name, (place, 0))
            firsts[part.name] = first, count + 1
    entries += [OutlineEntry(f"part-{first}", name, str(count)) for name, (first, count) in list(firsts.items())[:8]]
    entries += (
        [OutlineEntry("last-message", "What it reported")] if shown.record.summary or shown.record.findings else []
    )
    entries += [OutlineEntry("report", "Report")] if shown.report else []
    return entries
