"""All tasks as a picture of one moment: what needs a person first; a value in, lines of text out, whatever the width."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from rich.text import Text

from flyball.cli.screen.panel import folded
from flyball.projections.pages.home import HomePage, home_page
from flyball.projections.pages.summary import Summary
from flyball.projections.wording import age

KEYS = "Enter open · a answer · p pause · r resume · d diff · l logs · / filter · ? help · q leave"
HELP = (
    ("j k, arrows", "next, previous task"),
    ("Enter, o", "watch the task: the screen of `flyball run`; q there comes back"),
    ("a", "answer its question"),
    ("p, r", "pause it after its step; resume it in the background"),
    ("d, l", "what it changed; what happened"),
    ("/", "show only tasks with these words; empty shows all"),
    ("q", "leave; no task ends with it"),
)
_STYLES = {"NEEDS YOU": "bold yellow", "BLOCKED": "bold red", "LIMIT": "bold red", "LOST CONTACT": "bold magenta"}
_STYLES |= {"RUNNING": "blue", "DONE": "green", "MERGED": "green"}


class Looked(msgspec.Struct, frozen=True):
    """What a person wants to see now."""

    now: datetime
    selected: int = 0
    words: str = ""
    note: str = ""
    help: bool = False


def ordered(tasks: Sequence[Summary], now: datetime, words: str = "") -> tuple[HomePage, list[Summary]]:
    """The tasks in the order of the page: needs, under way, finished."""
    wanted = [task for task in tasks if _fits(task, words)]
    page = home_page(wanted, now, everything=True)
    return page, [*page.needs, *page.under_way, *page.finished]


def _fits(task: Summary, words: str) -> bool:
    text = f"{task.task} {task.title} {task.place.name} {task.word} {task.workflow}".casefold()
    return all(word in text for word in words.casefold().split())


def board(tasks: Sequence[Summary], looked: Looked, width: int, height: int) -> list[Text]:
    """The picture; the selected task is always in it, and no line is wider than the terminal."""
    page, rows = ordered(tasks, looked.now, looked.words)
    lines = [Text(page.heading, "bold"), Text(page.sentence, "dim")]
    if looked.words:
        lines.append(Text(f"only: {looked.words}", "yellow"))
    if looked.help:
        lines += [Text.assemble((f"{keys:<12}", "bold"), meaning) for keys, meaning in HELP]
    else:
        lines += _rows(rows, looked, max(3, height - len(lines) - 4))
    last = [Text(looked.note, "bold yellow")] if looked.note else []
    last.append(Text("? back" if looked.help else KEYS, "dim"))
    shown = [_cut(text, width) for text in lines]
    end = [line for text in last for line in folded(text, width)]
    return [*shown[: max(1, height - len(end) - 1)], Text(), *end]


def _cut(text: Text, width: int) -> Text:
    text.truncate(max(1, width), overflow="ellipsis")
    return text


def _rows(rows: Sequence[Summary], looked: Looked, room: int) -> list[Text]:
    many = max(1, room // 2)
    first = max(0, min(looked.selected - many // 2, len(rows) - many))
    lines: list[Text] = []
    for place, task in enumerate(rows[first : first + many], first):
        mark = "▸ " if place == looked.selected else "  "
        since = age((looked.now - task.since).total_seconds())
        head = Text.assemble(
            (mark, "bold"),
            (task.word, _STYLES.get(task.word, "dim")),
            "  ",
            (f"{task.number} {task.title}", "bold" if place == looked.selected else ""),
            (f"  {task.place.name} · {task.spent} · {since}", "dim"),
        )
        told = task.headline if task.group == "needs" else "; ".join(filter(None, (task.line, task.command)))
        lines += [head, Text(f"    {told}", "dim")]
    if not rows:
        lines.append(Text('  No task. Start one with: flyball run "…"', "dim"))
    more = len(rows) - first - many
    return [*lines, Text(f"  and {more} more", "dim")] if more > 0 else lines
