"""All tasks, what needs a person first: as a picture of one moment, and on a terminal of one's own, with keys to open, answer, pause, resume and look."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from flyball import process
from flyball.cli.screen.painter import size_of
from flyball.cli.screen.panel import fold_text
from flyball.cli.screen.people import TerminalPeople
from flyball.cli.screen.seat import attach
from flyball.cli.support.output import put
from flyball.clock import system_clock
from flyball.config.home import environment
from flyball.core.model.effects import Ask
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Refusal
from flyball.projections.pages.home import HomePage, home_page
from flyball.projections.pages.summary import Summary
from flyball.projections.wording import age
from flyball.web.sites import Sites
from flyball.wiring.presence import controller_of
from flyball.wiring.tasks.inbox import question_of, speak

KEYS = "Enter open · a answer · p pause · r resume · d diff · l logs · / filter · ? help · q leave"
HELP = (
    ("j k, arrows", "next, previous task"),
    ("Enter, o", "watch the task: the screen of `flyball run`; q there comes back"),
    ("a", "answer its question"),
    ("p, r", "pause it when its iteration ends; resume it in the background"),
    ("d, l", "what it changed; what happened"),
    ("/", "show only tasks with these words; empty shows all"),
    ("q", "leave; no task ends with it"),
)
_STYLES = {"NEEDS YOU": "bold yellow", "BLOCKED": "bold red", "LIMIT": "bold red", "LOST CONTACT": "bold magenta"}
_STYLES |= {"RUNNING": "blue", "DONE": "green", "MERGED": "green"}
LOOK_S = 0.5
_IN, _OUT, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[2J"
_DOWN, _UP = {"j", "\x1b[B", "\x1bOB"}, {"k", "\x1b[A", "\x1bOA"}
PATIENCE_S = 120.0


class Looked(msgspec.Struct, frozen=True):
    now: datetime
    selected: int = 0
    words: str = ""
    note: str = ""
    help: bool = False


def order_tasks(tasks: Sequence[Summary], now: datetime, words: str = "") -> tuple[HomePage, list[Summary]]:
    """The tasks in the order of the page: needs, under way, finished."""
    wanted = [task for task in tasks if _fits(task, words)]
    page = home_page(wanted, now, everything=True)
    return page, [*page.needs, *page.under_way, *page.finished]


def _fits(task: Summary, words: str) -> bool:
    text = f"{task.task} {task.title} {task.place.name} {task.word} {task.workflow}".casefold()
    return all(word in text for word in words.casefold().split())


def board(tasks: Sequence[Summary], looked: Looked, width: int, height: int) -> list[Text]:
    """The picture; the selected task is always in it, and no line is wider than the terminal."""
    page, rows = order_tasks(tasks, looked.now, looked.words)
    lines = [Text(page.heading, "bold"), Text(page.sentence, "dim")]
    if looked.words:
        lines.append(Text(f"only: {looked.words}", "yellow"))
    if looked.help:
        lines += [Text.assemble((f"{keys:<12}", "bold"), meaning) for keys, meaning in HELP]
    else:
        lines += _rows(rows, looked, max(3, height - len(lines) - 4))
    last = [Text(looked.note, "bold yellow")] if looked.note else []
    last.append(Text("? back" if looked.help else KEYS, "dim"))
    for text in lines:
        text.truncate(max(1, width), overflow="ellipsis")
    end = [line for text in last for line in fold_text(text, width)]
    return [*lines[: max(1, height - len(end) - 1)], Text(), *end]


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


class Board:
    """Reads keys and draws when something changed; what it shows is read anew each time."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._looked = Looked(system_clock.now())
        self._rows: list[Summary] = []
        self._terminal = sys.stdin.fileno()
        self._modes = termios.tcgetattr(self._terminal)
        self._typed = ""

    def run(self) -> None:
        """Until `q`."""
        self._take()
        try:
            while True:
                self._draw()
                key = self._key()
                if key in {"q", "\x03"}:
                    return
                if key:
                    self._looked = replace(self._looked, note="")
                    self._press(key)
        finally:
            self._give_back()

    def _take(self) -> None:
        """The terminal in our modes."""
        tty.setcbreak(self._terminal)
        sys.stdout.write(_IN)

    def _give_back(self) -> None:
        sys.stdout.write(_OUT)
        sys.stdout.flush()
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)

    @contextmanager
    def _away(self) -> Iterator[None]:
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _key(self) -> str:
        """One key; others that were pressed with it come next."""
        if not self._typed and select.select([self._terminal], [], [], LOOK_S)[0]:
            self._typed = os.read(self._terminal, 64).decode("utf-8", "replace")
        key, self._typed = self._typed[: (many := 3 if self._typed[:1] == "\x1b" else 1)], self._typed[many:]
        return key

    def _draw(self) -> None:
        now = system_clock.now()
        tasks = list(self._sites.summaries())
        _, self._rows = order_tasks(tasks, now, self._looked.words)
        selected = max(0, min(self._looked.selected, len(self._rows) - 1))
        self._looked = replace(self._looked, now=now, selected=selected)
        console = Console(highlight=False, markup=False, emoji=False)
        size = size_of(console)
        with console.capture() as drawn:
            for line in board(tasks, self._looked, size.width, size.height):
                console.print(line, overflow="ellipsis", no_wrap=True)
        sys.stdout.write(_HOME + drawn.get())
        sys.stdout.flush()

    def _press(self, key: str) -> None:
        if key == "?":
            self._looked = replace(self._looked, help=not self._looked.help)
        elif key in _DOWN:
            self._looked = replace(self._looked, selected=self._looked.selected + 1)
        elif key in _UP:
            self._looked = replace(self._looked, selected=max(0, self._looked.selected - 1))
        elif key == "/":
            with self._away():
                words = input("only tasks with these words: ")
            self._looked = replace(self._looked, words=words, selected=0)
        elif self._rows:
            try:
                self._act(key, self._rows[self._looked.selected])
            except Refusal as error:
                self._looked = replace(self._looked, note=str(error))

    def _act(self, key: str, row: Summary) -> None:
        site, task = self._sites.find(row.place.repo, row.task)
        match key:
            case "\n" | "\r" | "o":
                with self._away():
                    attach(site, task)
                    if controller_of(site, task) is None:  # else the person has left
                        self._wait()
            case "a" if row.question is not None:
                state = site.state(task)
                asked_as, question = question_of(site, state, row.question.id)
                asked = Ask(asked_as, question, lane=state.questions[asked_as].lane)
                with self._away():
                    given = TerminalPeople().ask(state.task, asked, process.StopFlag())
                if given is not None:
                    heard = speak(site, task, "answer", text=given, question=row.question.id)
                    self._looked = replace(
                        self._looked, note=f"answer saved; applied {heard.taken}: {heard.next_command}"
                    )
            case "p":
                heard = speak(site, task, "pause")
                self._looked = replace(self._looked, note=f"pause saved; applied {heard.taken}")
            case "r":
                self._looked = replace(self._looked, note=self._run(row, "resume", "--detach"))
            case "d" | "l":
                with self._away():
                    put(self._run(row, "diff" if key == "d" else "logs"))
                    self._wait()

    def _run(self, row: Summary, command: str, *more: str) -> str:
        site = self._sites.all()[row.place.repo]
        argv = [sys.executable, "-m", "flyball", command, row.task, *more]
        env = {**environment(), "FLYBALL_HOME": str(site.home.home)}
        done = process.capture(argv, cwd=site.repository.root, env=env, timeout=PATIENCE_S)
        return scrub(decode(done.stdout + done.stderr)).strip()

    def _wait(self) -> None:
        put("press any key to go back")
        tty.setcbreak(self._terminal)
        os.read(self._terminal, 64)
