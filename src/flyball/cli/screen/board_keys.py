"""All tasks on a terminal of one's own, with keys to open, answer, pause, resume and look."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from rich.console import Console

from flyball import process
from flyball.cli.screen.attaching import attach
from flyball.cli.screen.board import Looked, board, ordered
from flyball.cli.screen.painter import size_of
from flyball.cli.screen.people import TerminalPeople
from flyball.cli.support.output import put
from flyball.clock import system_clock
from flyball.config.home import environment
from flyball.core.model.task import EffectId
from flyball.core.text.scrubbing import decode, scrub
from flyball.ports import Refusal
from flyball.projections.pages.summary import Summary
from flyball.web.sites import Sites
from flyball.wiring.tasks.inbox import speak

LOOK_S = 0.5
_IN, _OUT, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[2J"
_DOWN, _UP = {"j", "\x1b[B", "\x1bOB"}, {"k", "\x1b[A", "\x1bOA"}
PATIENCE_S = 120.0


class Board:
    """Reads keys and draws when something changed; what it shows is read anew each time."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._looked = Looked(system_clock.now())
        self._rows: list[Summary] = []
        self._terminal = sys.stdin.fileno()
        self._modes = termios.tcgetattr(self._terminal)

    def run(self) -> None:
        """Until `q`."""
        with self._screen():
            while True:
                self._draw()
                key = self._key()
                if key in {"q", "\x03"}:
                    return
                if key:
                    self._looked = replace(self._looked, note="")
                    self._press(key)

    @contextmanager
    def _screen(self) -> Iterator[None]:
        """The terminal in our modes; they are always put back."""
        tty.setcbreak(self._terminal)
        sys.stdout.write(_IN)
        try:
            yield
        finally:
            sys.stdout.write(_OUT)
            sys.stdout.flush()
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)

    @contextmanager
    def _away(self) -> Iterator[None]:
        """The terminal as it was, for a while."""
        sys.stdout.write(_OUT)
        sys.stdout.flush()
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)
        try:
            yield
        finally:
            tty.setcbreak(self._terminal)
            sys.stdout.write(_IN)

    def _key(self) -> str:
        ready, _, _ = select.select([self._terminal], [], [], LOOK_S)
        return os.read(self._terminal, 8).decode("utf-8", "replace") if ready else ""

    def _draw(self) -> None:
        now = system_clock.now()
        tasks = list(self._sites.summaries())
        _, self._rows = ordered(tasks, now, self._looked.words)
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
                    self._wait()
            case "a" if row.question is not None:
                question = site.state(task).questions[EffectId(row.question.id)].question
                with self._away():
                    given = TerminalPeople().ask(site.state(task).task, question, process.StopFlag())
                if given is not None:
                    heard = speak(site, task, "answer", text=given, question=row.question.id)
                    self._looked = replace(self._looked, note=f"answered; {heard.taken}: {heard.next_command}")
            case "p":
                heard = speak(site, task, "pause")
                self._looked = replace(self._looked, note=f"pause; {heard.taken}")
            case "r":
                self._looked = replace(self._looked, note=self._run(row, "resume", "--detach"))
            case "d" | "l":
                with self._away():
                    put(self._run(row, "diff" if key == "d" else "logs"))
                    self._wait()

    def _run(self, row: Summary, command: str, *more: str) -> str:
        """A command of ours in the task's repository, and what it says."""
        site = self._sites.all()[row.place.repo]
        argv = [sys.executable, "-m", "flyball", command, row.task, *more]
        env = {**environment(), "FLYBALL_HOME": str(site.home.home)}
        done = process.capture(argv, cwd=site.repository.root, env=env, timeout=PATIENCE_S)
        return scrub(decode(done.stdout + done.stderr)).strip()

    def _wait(self) -> None:
        put("press Enter to go back")
        sys.stdin.readline()
