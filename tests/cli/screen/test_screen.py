"""What a run shows: plain lines, JSON lines, and the live view at several widths."""

import errno
import io
import json
import re
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console
from tests.support.builders import Story, measurement, short_tdd_run, with_changes

from flyball.cli.screen.live import LiveScreen, screen, usable
from flyball.cli.screen.panel import Moment, View, countdown, panel
from flyball.cli.screen.plain import JsonScreen, PlainScreen
from flyball.core.health.breaker import Breaker
from flyball.core.health.verdict import Health
from flyball.core.loop.questions import FOUR_CHOICES
from flyball.core.model.effects import Question, RunAgent, Wait
from flyball.core.model.events import Begun, Held, TaskStopped
from flyball.core.model.task import EffectId
from flyball.projections.history.task_history import TaskHistory
from flyball.projections.views.standing import health, reason, stuck


def green_under_way() -> Story:
    """RED is left, one GREEN iteration was refused, and a second turn runs."""
    story = Story().start()
    story.iterate(held=True, signal=True, progress=True).leave("GREEN")
    story.iterate(
        measurement("aaaa", total=12, failing=("t::one", "t::two", "t::three")),
        signal=True,
        missing=("fails: t::one",),
        breaker=Breaker("HALF_OPEN", 1, 1, "e", "no progress in 1 iteration"),
    )
    number = story.state.turns + 1
    effect = RunAgent(
        EffectId(f"turn/{number}"), role="implementer", stage="GREEN", agent="scripted", model="large", prompt="x", iteration=2, turn=number
    )  # fmt: skip
    return story.add(Begun(effect))


def view_of(story: Story) -> View:
    history = TaskHistory(story.events)
    told = (health(story.state, history), stuck(story.state, history), reason(story.state, history))
    return View(story.state, history.measured, *told)


KEYS = "p pause · d detail · ? help · q leave running · Ctrl-C stop"


def drawn(
    story: Story, *, width: int = 80, height: int = 24, said: str = "", after_s: float = 65.0, **wanted: Any
) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=24, force_terminal=True, color_system=None)
    moment = Moment(story.at + timedelta(seconds=after_s), (said,) if said else (), keys=KEYS, **wanted)
    with console.capture() as captured:
        for line in panel(view_of(story), moment, width, height):
            console.print(line, soft_wrap=True)
    return captured.get().splitlines()


@pytest.mark.req("O60")
def test_the_view_at_80_by_24_shows_stage_iteration_turn_gates_breaker_health_and_spend():
    lines = drawn(green_under_way(), said="editing rows.py")
    assert len(lines) <= 12
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert "007-parse-rows · RUNNING · tdd · flyball/007-parse-rows" in text
    assert "✓ RED ▸  GREEN  ▸ REFACTOR ▸ DOCUMENT ▸ QA ▸ SHIP" in text
    assert "iteration 2 · turn 3 · implementer (scripted, large) · 1 min 5 s" in text
    assert "editing rows.py" in text
    assert "9/12 3 failing" in text
    assert "criteria 2/2" in text
    assert "stuck   nearly: 1 of 2 iterations without progress, 1 of 3 with the same error" in text
    assert "health  PROGRESSING" in text
    assert "breaker" not in text
    assert KEYS in text
    assert "3 turns" in text
    assert "0.10 USD" in text


def test_a_wide_terminal_is_used():
    lines = drawn(green_under_way(), width=110, said="word " * 60)
    assert max(map(len, lines)) > 100


@pytest.mark.parametrize("width", [20, 40, 60, 200])
@pytest.mark.parametrize("wanted", [{}, {"detail": True}, {"help": True}], ids=["picture", "detail", "help"])
def test_no_line_is_wider_than_the_terminal_and_the_last_one_names_the_keys(width: int, wanted: dict[str, bool]):
    lines = drawn(green_under_way(), width=width, said="x" * 500, **wanted)
    assert all(len(line) <= width for line in lines)
    assert len(lines) < 24
    assert ("? back" if "help" in wanted else "Ctrl-C stop") in " ".join(lines[-4:])


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("wanted", [{}, {"detail": True}, {"help": True}], ids=["picture", "detail", "help"])
def test_lines_are_folded_between_words(width: int, wanted: dict[str, bool]):
    said = "Reading the rows, then the columns, then all of the tests that there are in this small project."
    story = green_under_way()
    words = set(" ".join(drawn(story, width=80, height=99, said=said, **wanted)).split())
    narrow = set(" ".join(drawn(story, width=width, height=99, said=said, **wanted)).split())
    cut = {word for word in narrow - words if not set(word) & set("─█░")}
    assert cut <= {"GREEN", "stage", "2", "of", "6"}, "only the row of stages is told in other words"


def test_help_explains_the_words_of_the_view_and_its_keys():
    text = "\n".join(drawn(green_under_way(), help=True))
    for word in ("stage", "gate", "verdict", "health", "stuck", "p ", "d ", "q ", "Ctrl-C "):
        assert f"\n{word}" in text
    assert all(health.value in text for health in Health)


def test_detail_shows_the_agents_last_lines_what_fails_and_what_is_wanted():
    story = green_under_way()
    view = replace(view_of(story), failing=("tests/t.py::one", "tests/t.py::two"))
    moment = Moment(story.at, ("a line", "another line"), detail=True)
    text = "\n".join(line.plain for line in panel(view, moment, 80, 40))
    assert "agent   a line\n        another line" in text
    assert "failing one, two" in text
    assert "missing fails: t::one" in text


@pytest.mark.parametrize("wanted", [{}, {"detail": True}, {"help": True}], ids=["picture", "detail", "help"])
def test_a_terminal_that_is_suddenly_40_columns_wide_still_holds_the_whole_picture(wanted: dict[str, bool]):
    lines = drawn(green_under_way(), width=200, said="word " * 60, **wanted)
    assert sum(-(-max(1, len(line)) // 40) for line in lines) <= 24


@pytest.mark.req("C1")
def test_a_wait_counts_down():
    story = Story().start()
    until = story.at + timedelta(minutes=10)
    story.add(
        Held("provider", "scripted: usage limit", until),
        Begun(Wait(EffectId("wait/1"), until, "scripted: usage limit")),
    )
    assert any("waits 8:53 more (provider): scripted: usage limit" in line for line in drawn(story, after_s=66.0))
    assert countdown(timedelta(hours=1, seconds=9)) == "1:00:09"
    assert countdown(timedelta(seconds=-5)) == "0:00"


def test_a_stage_skipped_by_a_person_is_marked_as_such_for_ever():
    story = Story().start()
    story.iterate().leave("GREEN", forced=True)
    text = "\n".join(drawn(story))
    assert "! RED" in text
    assert "criteria unverified" in text


def test_foreign_text_cannot_act_on_the_terminal():
    story = green_under_way()
    text = "\n".join(drawn(story, said="\x1b]0;owned\x07\x1b[2Jhello"))
    assert "\x1b" not in text
    assert "hello" in text


def live(history: TaskHistory, width: int = 80) -> tuple[LiveScreen, io.StringIO]:
    out = io.StringIO()
    console = Console(
        file=out, width=width, height=24, force_terminal=True, color_system=None, markup=False, highlight=False
    )
    return LiveScreen(history, console), out


def play(shown: LiveScreen | PlainScreen, story: Story, history: TaskHistory) -> None:
    again: Story | None = None
    for event in story.events:
        if again is None:
            again = Story(story.state.task)
        else:
            again.add(event.fact)
        history.add(event)
        shown.listener(event, again.state)


def test_events_scroll_by_and_the_terminal_is_given_back():
    story = short_tdd_run()
    history = TaskHistory()
    shown, out = live(history)
    with shown:
        play(shown, story, history)
        shown.notify("output", "a line")
        shown.closing(story.state)
    text = out.getvalue()
    assert "RED -> GREEN: the measurements hold and the agent says that it is done" in " ".join(text.split())
    assert "DONE: gates passed" in text
    assert "next: git merge flyball/007-parse-rows" in text
    assert "\x1b[?25l" not in text, "a cursor that is never hidden needs no repair"


def test_an_exception_gives_the_terminal_back_too():
    shown, out = live(TaskHistory())
    with pytest.raises(RuntimeError), shown:
        raise RuntimeError
    assert out.getvalue().endswith("\x1b[J\r")
    assert threading.active_count() < 10


def test_the_cursor_is_never_left_hidden_even_if_the_process_dies_now():
    shown, out = live(TaskHistory())
    with shown:
        text = out.getvalue()
        assert "\x1b[?25l" not in text, "a cursor that is never hidden needs no repair"


def test_no_colours_where_nobody_wants_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    history = TaskHistory()
    shown = LiveScreen(history, Console(file=out, width=80, force_terminal=True, markup=False, highlight=False))
    with shown:
        play(shown, short_tdd_run(), history)
    assert "\x1b[31m" not in out.getvalue()
    assert "\x1b[32m" not in out.getvalue()


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    assert not usable()
    assert type(screen(TaskHistory(), as_json=False, terminal=True)) is PlainScreen
    assert type(screen(TaskHistory(), as_json=False, terminal=False)) is PlainScreen
    assert type(screen(TaskHistory(), as_json=True, terminal=True)) is JsonScreen


@pytest.mark.req("C5")
def test_json_is_one_event_a_line_and_the_status_last(capsys: pytest.CaptureFixture[str]):
    story = short_tdd_run()
    history = TaskHistory()
    shown = JsonScreen(history)
    with shown:
        play(shown, story, history)
        shown.closing(story.state)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["seq"] for line in lines[:-1]] == [event.seq for event in story.events]
    assert lines[-1]["task"] == "007-parse-rows"
    assert lines[-1]["decision"] == "DONE"


def test_a_resumed_runs_last_line_knows_what_came_before(capsys: pytest.CaptureFixture[str]):
    story = short_tdd_run()
    shown = screen(TaskHistory(story.events), as_json=True, terminal=False)
    shown.closing(story.state)
    assert json.loads(capsys.readouterr().out)["checkpoints"][0]["label"] == "start"


@pytest.mark.req("C22")
def test_an_open_breaker_ends_with_its_banner_and_four_commands(capsys: pytest.CaptureFixture[str]):
    story = Story().start().ask(Question("breaker", "RED makes no progress", FOUR_CHOICES))
    story.add(TaskStopped("blocked", "RED makes no progress", (), EffectId("ask/1")))
    shown = PlainScreen(TaskHistory(story.events))
    shown.closing(story.state)
    said = capsys.readouterr().out
    for word in ("reset", "skip", "abort", "modify"):
        assert f"flyball {word} 007-parse-rows" in said


@pytest.mark.req("C60")
def test_an_interrupted_run_says_how_to_resume(capsys: pytest.CaptureFixture[str]):
    story = Story().start().add(TaskStopped("interrupted", "interrupted by SIGINT"))
    PlainScreen(TaskHistory(story.events)).closing(story.state)
    assert "resume with `flyball resume 007-parse-rows`" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "told"), [(BrokenPipeError(), ""), (OSError(errno.ENOSPC, "No space left on device"), "No space left")]
)
def test_an_output_that_takes_nothing_more_does_not_end_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, told: str
):
    tried: list[str] = []

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            tried.append(text)
            raise error

        def fileno(self) -> int:
            raise OSError

    monkeypatch.setattr("flyball.cli.screen.plain.silence", lambda _stream: None)
    monkeypatch.setattr("sys.stdout", Gone())
    history = TaskHistory()
    play(PlainScreen(history), short_tdd_run(), history)
    assert len(tried) == 1
    said = capsys.readouterr().err
    assert told in said
    assert len(said.splitlines()) == bool(told)


def test_a_terminal_that_has_gone_does_not_end_the_work():
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise OSError(errno.EIO, "Input/output error")

    history, story = TaskHistory(), short_tdd_run()
    shown = LiveScreen(history, Console(file=Gone(), width=80, height=24, force_terminal=True))
    with shown:
        play(shown, story, history)
        shown.closing(story.state)


def test_what_happens_while_a_person_is_asked_begins_a_line_of_its_own():
    shown, out = live(TaskHistory())
    with shown, shown.suspend():
        out.truncate(0)
        out.seek(0)
        shown.notify("stopping", "one")
        shown.notify("stopping", "two")
        assert [line.rstrip() for line in out.getvalue().splitlines()] == ["", "one", "two"]


def test_a_person_who_breaks_off_is_told_at_once_and_a_program_is_not(capsys: pytest.CaptureFixture[str]):
    shown, out = live(TaskHistory())
    with shown:
        shown.notify("stopping", "stopping: all is saved")
    assert "stopping: all is saved" in out.getvalue()
    JsonScreen(TaskHistory()).notify("stopping", "stopping: all is saved")
    assert capsys.readouterr().out == ""
    PlainScreen(TaskHistory()).notify("stopping", "stopping: all is saved")
    assert re.fullmatch(r"[0-9:]{8} stopping: all is saved\n", capsys.readouterr().out)


@pytest.mark.req("V31")
def test_every_plain_line_but_the_last_ones_begins_with_the_local_time_of_day(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TZ", "XYZ-5:30")
    time.tzset()
    story, history = short_tdd_run(), TaskHistory()
    play(PlainScreen(history), story, history)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(re.match(r"[0-2][0-9]:[0-5][0-9]:[0-5][0-9] [A-Z]+ ", line) for line in lines)
    first = story.events[0].at + timedelta(hours=5, minutes=30)
    assert lines[0].startswith(f"{first:%H:%M:%S} RED")
    PlainScreen(TaskHistory()).closing(story.add(TaskStopped("interrupted", "by SIGINT")).state)
    assert capsys.readouterr().out.startswith("resume with"), "a command stands alone, to be copied"
    monkeypatch.undo()
    time.tzset()


def test_every_workflow_stage_fits_the_view():
    story = green_under_way()
    for stage in ("RED", "QA", "SHIP"):
        view = replace(view_of(story), state=with_changes(story.state, stage=stage))
        assert len(panel(view, Moment(story.at), 80)) == 8
