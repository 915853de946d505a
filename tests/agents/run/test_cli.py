"""The frame around an agent's own program: what it is given, what its process overrules, and what it may not leave behind."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flyball.agents.dialect import Event, Invocation, ProgramOutput, TurnReading, TurnRequest
from flyball.agents.display.display import Shown, show_words
from flyball.agents.display.live import LONGEST_EVENT, EventView
from flyball.agents.reading.jsonl import LONGEST_LINE, OTHER_LINES, Events, files_in, other_lines
from flyball.agents.run.cli import Cli, CliAgent
from flyball.agents.run.frame import Patience, ProgramFrame, ProgramRun, TurnOrder
from flyball.agents.run.homes import guarded_paths, home_paths, locate
from flyball.agents.run.transcript import Transcript
from flyball.agents.run.turn_reading import settle_turn
from flyball.clock import system_clock
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded, TurnKind, Usage
from flyball.core.model.task import EffectId
from flyball.ports import Confine
from flyball.process import Exit, StopFlag
from flyball.workspace import sandbox

NONCE = "00112233445566778899aabbccddeeff"
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
ASKED = TurnRequest(model="", folder=Path("/turn/shared"), tree=Path("/repo"), nonce=NONCE, session="s-1")
A_TURN = RunAgent(
    EffectId("turn/1"), role="implementer", stage="GREEN", agent="a", model="m-1", prompt="work {nonce}", iteration=1, turn=1
)  # fmt: skip


class Spoken:
    """A dialect for a Python program given as text; its last event is {"kind": …, "text": …, "usage": […]}."""

    name = program = "spoken"
    variables = ("SPOKEN_KEY",)
    homes = (".spoken",)
    guarded = (".spoken/settings.json",)
    version_argv = ("true",)
    tells_money = False
    install = login = ""

    def __init__(self, source: str, **invocation: Any) -> None:
        self._source, self._invocation = source, invocation
        self.asked: list[TurnRequest] = []
        self.heard: list[ProgramOutput] = []

    def logged_in(self, environment: Mapping[str, str], home: Path) -> bool | None:
        return None

    def invoke(self, asked: TurnRequest) -> Invocation:
        self.asked.append(asked)
        program = f"import json, os, sys, time\n{self._source}"
        return Invocation(argv=(sys.executable, "-c", program, *asked.args), **self._invocation)

    def read(self, heard: ProgramOutput) -> TurnReading:
        self.heard.append(heard)
        last = next((event for event in heard.lines if "kind" in event), None)
        if last is None:
            return TurnReading(kind="crashed")
        usage = Usage(*last["usage"]) if "usage" in last else Usage(estimated=True)
        return TurnReading(kind=last["kind"], final_message=last.get("text", ""), usage=usage, session="s-1")

    def show(self, event: Event) -> list[Shown]:
        return show_words("text", event.get("text"))


OK = 'print(json.dumps({"kind": "ok", "text": "done"}))'


class Scene:
    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.tree = folder, folder / "home", folder / "tree"
        self.home.mkdir()
        self.tree.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "SPOKEN_KEY": "k", "OTHER": "o"}
        self.number = 0
        self.sandboxed = True
        self.confine: Confine = sandbox.Unconfined()

    def turn(
        self, dialect: Spoken, *, patience: Patience | None = None, cli: Mapping[str, Any] | None = None, **asked: Any
    ) -> TurnEnded:
        self.number += 1
        agent = CliAgent(
            Cli("a", dialect, **(cli or {})),
            ProgramFrame(
                task="001-it",
                workflow="tdd",
                confine=self.confine,
                sandboxed=self.sandboxed,
                environment=self.environment,
                clock=system_clock,
                patience=patience or Patience(300.0, 300.0, 0.3, 0.2),
            ),
        )
        return agent.turn(
            msgspec.structs.replace(A_TURN, **asked),
            tree=self.tree,
            folder=self.folder / str(self.number),
            nonce=NONCE,
            stop=StopFlag(),
            notify=lambda *_: None,
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


class TestGiven:
    def test_it_sees_its_own_variables_the_users_listed_ones_and_no_other(self, scene: Scene) -> None:
        scene.environment["LISTED"] = "l"
        show = 'print(json.dumps({"kind": "ok", "text": json.dumps(dict(os.environ))}))'
        seen = json.loads(scene.turn(Spoken(show, env={"OURS": "1"}), cli={"env": ("LISTED",)}).final_message)
        assert (seen["SPOKEN_KEY"], seen["LISTED"], seen["OURS"], seen["FLYBALL_NONCE"]) == ("k", "l", "1", NONCE)
        assert "OTHER" not in seen

    @pytest.mark.parametrize("piped", [True, False])
    def test_the_prompt_comes_on_standard_input_or_standard_input_is_empty(self, scene: Scene, piped: bool) -> None:
        dialect = Spoken('print(json.dumps({"kind": "ok", "text": sys.stdin.read()}))', prompt_on_stdin=piped)
        assert scene.turn(dialect).final_message == (f"work {NONCE}" if piped else "")

    def test_it_is_asked_what_the_user_set_and_started_where_they_say(self, scene: Scene) -> None:
        dialect = Spoken(
            'print(json.dumps({"kind": "ok", "text": " ".join(sys.argv[1:])}))',
            files={"x.json": b"{}"},
            left=("x.json",),
        )
        cli = {"args": ("--fast",), "max_turns": 3, "budget_usd": 0.5, "command": (sys.executable, "-B")}
        ended = scene.turn(dialect, cli=cli, session="s-0", model="m-2", access="read")
        asked = dialect.asked[0]
        assert (asked.session, asked.model, asked.access, asked.max_turns, asked.budget_usd) == (
            *("s-0", "m-2", "read"),
            *(3, 0.5),
        )
        assert ended.final_message == "--fast"
        assert dialect.heard[0].files == {"x.json": b"{}"}

    def test_what_it_left_in_its_folder_can_be_read_and_is_then_gone(self, scene: Scene) -> None:
        dialect = Spoken(
            "folder = os.path.dirname(os.environ['FLYBALL_PROMPT_FILE'])\n"
            f"for name in ('usage.json', 'other.json'): open(f'{{folder}}/{{name}}', 'w').write('7')\n{OK}",
            left=("usage.json", "none.json"),
        )
        scene.turn(dialect)
        assert dialect.heard[0].files == {"usage.json": b"7"}
        assert not dialect.asked[0].folder.exists()


class TestHomes:
    def test_a_folder_is_made_and_a_file_only_shown(self, tmp_path: Path) -> None:
        environment = {"HOME": str(tmp_path)}
        assert home_paths((".a", ".b.json"), environment) == (tmp_path / ".a",)
        (tmp_path / ".b.json").write_text("{}")
        assert home_paths((".a", ".b.json"), environment) == (tmp_path / ".a", tmp_path / ".b.json")

    @pytest.mark.parametrize(
        ("name", "where"),
        [
            (".x/y", "/home/u/.x/y"),
            (".config/x", "/conf/x"),
            (".local/share/x", "/home/u/.local/share/x"),
            ("$X_HOME", "/elsewhere"),
            ("$X_HOME/in/it", "/elsewhere/in/it"),
            ("$NOT_SET", None),
            ("$RELATIVE", None),
        ],
    )
    def test_variables_say_where_a_folder_is(self, name: str, where: str | None) -> None:
        environment = {"HOME": "/home/u", "XDG_CONFIG_HOME": "/conf", "X_HOME": "/elsewhere", "RELATIVE": "x"}
        assert locate(name, environment) == (Path(where) if where else None)

    def test_what_an_agent_plants_where_it_would_be_obeyed_is_moved_away_and_told(self, scene: Scene) -> None:
        plant = f'open(os.environ["HOME"] + "/.spoken/settings.json", "w").write("evil")\n{OK}'
        (scene.home / ".spoken").mkdir()
        ended = scene.turn(Spoken(plant))
        assert (ended.kind, "would be obeyed outside the sandbox" in ended.detail) == ("ok", True)
        assert not (scene.home / ".spoken" / "settings.json").exists()
        assert (scene.folder / "1" / "planted" / "settings.json").read_text() == "evil"

    def test_without_a_sandbox_its_program_keeps_its_own_settings_as_it_always_does(self, scene: Scene) -> None:
        scene.sandboxed = False
        made = f'open(os.environ["HOME"] + "/.spoken/settings.json", "w").write("own")\n{OK}'
        dialect = Spoken(made)
        assert (scene.turn(dialect).detail, dialect.asked[0].sandboxed) == ("", False)
        assert (scene.home / ".spoken" / "settings.json").read_text() == "own"

    @pytest.mark.parametrize("sandboxed", [True, False])
    @pytest.mark.parametrize("access", ["write", "read"])
    def test_its_homes_may_be_written_its_users_settings_not_and_the_tree_only_by_who_works(
        self, scene: Scene, access: str, *, sandboxed: bool
    ) -> None:
        known: dict[str, Any] = {}

        def confine(argv: Sequence[str], **how: Any) -> tuple[list[str], Path, dict[str, str]]:
            known.update(how)
            return list(argv), how["tree"], dict(how["env"])

        (scene.home / ".spoken").mkdir()
        settings = scene.home / ".spoken" / "settings.json"
        settings.write_text("mine")
        scene.confine, scene.sandboxed = confine, sandboxed
        scene.turn(Spoken(OK), access=access)
        assert scene.home / ".spoken" in known["writable"]
        assert known["read_only"] == ([settings] if sandboxed else [])
        assert known["read_only_tree"] is (access == "read")

    def test_what_the_user_had_there_stays(self, scene: Scene) -> None:
        (scene.home / ".spoken").mkdir()
        settings = scene.home / ".spoken" / "settings.json"
        settings.write_text("mine")
        assert guarded_paths((".spoken/settings.json",), scene.environment) == (settings,)
        assert scene.turn(Spoken(OK)).detail == ""
        assert settings.read_text() == "mine"

    def test_in_the_sandbox_a_home_can_be_written_and_what_is_guarded_cannot(self, tmp_path: Path) -> None:
        program = sandbox.available()
        if isinstance(program, sandbox.Unavailable):
            pytest.skip(program.reason)
        scene = Scene(tmp_path)
        (scene.home / ".spoken").mkdir()
        (scene.home / ".spoken" / "settings.json").write_text("mine")
        confine = sandbox.Confined(program, scene.tree, hidden=(scene.home,), programs=(Path(sys.prefix),))
        attempt = "cd $HOME/.spoken && echo new > session; echo evil > settings.json; cat settings.json"
        argv, cwd, env = confine(
            ["/bin/sh", "-c", attempt],
            tree=scene.tree,
            env=scene.environment,
            writable=home_paths((".spoken",), scene.environment),
            read_only=guarded_paths((".spoken/settings.json",), scene.environment),
        )
        from flyball import process

        done = process.run(argv, cwd=cwd, env=env)
        assert done.stdout_tail == b"mine"
        assert (scene.home / ".spoken" / "session").read_text() == "new\n"


class TestHearing:
    def test_objects_are_events_and_every_other_line_is_kept_apart(self, tmp_path: Path) -> None:
        path = tmp_path / "stdout"
        path.write_bytes(b'banner\n {"b": 1, "type": "x"} \n[1]\n{"cut": \n\xff\xfe\n{"last": 2}')
        assert list(Events(path)) == [{"b": 1, "type": "x"}, {"last": 2}]
        assert other_lines(path) == ("banner", "[1]", '{"cut": ', "\\xff\\xfe")
        assert list(Events(path)) == [{"b": 1, "type": "x"}, {"last": 2}]

    def test_a_line_without_end_is_passed_over_and_old_lines_are_forgotten(self, tmp_path: Path) -> None:
        path = tmp_path / "stdout"
        with path.open("wb") as file:
            file.write(b'{"a": "' + b"x" * (LONGEST_LINE + 10) + b'"}\n')
            file.write(b"line\n" * (OTHER_LINES + 5) + b'{"b": 1}\n')
        assert list(Events(path)) == [{"b": 1}]
        assert len(other_lines(path)) == OTHER_LINES

    def test_what_is_not_there_says_nothing(self, tmp_path: Path) -> None:
        assert list(Events(tmp_path / "none")) == []
        assert files_in(tmp_path / "none", ("plain",)) == {}

    def test_no_link_in_its_folder_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_text("p")
        (tmp_path / "link").symlink_to("/etc/passwd")
        (tmp_path / "folder").mkdir()
        assert files_in(tmp_path, ("plain", "link", "folder")) == {"plain": b"p"}

    def test_whoever_watches_sees_events_in_words_and_other_lines_as_they_are(self) -> None:
        lines: list[str] = []
        view = EventView(
            lambda _, line: lines.append(line), system_clock, lambda event: show_words("text", event.get("say"))
        )
        for piece in (b'{"say": "o', b'ne"}\n', b'{"quiet": 1}\n', b"x" * (LONGEST_EVENT + 1), b"tail\n", b"plain"):
            view.take("stdout", piece)
        view.flush()
        assert (lines[0], lines[-1]) == ("one", "plain")
        assert max(map(len, lines)) < 10


def after(
    kind: TurnKind, *, reset_at: datetime | None = None, slept: str = "", message: str = "", **end: Any
) -> TurnEnded:
    said = {"code": 0, "signal": None, "ended_by": "exit", "seconds": 1.0, **end}
    heard = ProgramOutput(
        asked=ASKED, lines=(), exit=Exit(**said), now=NOW, stderr_text=said.get("stderr_tail", b"").decode()
    )
    turn = TurnOrder(A_TURN, ASKED.tree, ASKED.folder, NONCE)
    silent = timedelta(seconds=60 if heard.exit.ended_by == "idle" else 0)
    ran = ProgramRun(turn, Transcript(ASKED.folder, b""), heard.exit, None, "", {}, NOW, NOW - silent)
    reading = TurnReading(kind=kind, detail="as read", reset_at=reset_at, final_message=message)
    return settle_turn(reading, heard, ran, slept=slept, before=Usage())


class TestSettled:
    @pytest.mark.parametrize("kind", ["denied", "question", "max_turns", "budget", "not_logged_in", "context_full"])
    def test_what_only_the_program_can_know_stands_whatever_its_status(self, kind: TurnKind) -> None:
        assert after(kind, code=1).kind == kind

    @pytest.mark.parametrize(
        ("read", "end", "kind"),
        [
            ("ok", {}, "ok"),
            ("ok", {"code": 3}, "crashed"),
            ("ok", {"code": 143}, "killed"),
            ("ok", {"code": None, "signal": 9}, "killed"),
            ("crashed", {}, "crashed"),
            ("crashed", {"code": None, "signal": 15}, "killed"),
            ("ok", {"code": None, "ended_by": "stop"}, "interrupted"),
            ("usage_limit", {"code": None, "ended_by": "stop"}, "interrupted"),
            ("ok", {"code": None, "ended_by": "wall"}, "timed_out"),
            ("crashed", {"code": None, "ended_by": "idle"}, "timed_out"),
            ("ok", {"code": None, "ended_by": "missing"}, "not_installed"),
            ("crashed", {"code": 1, "stderr_tail": b"Error: 529 overloaded\n"}, "overloaded"),
            ("crashed", {"code": 0, "stderr_tail": b"not logged in\n"}, "not_logged_in"),
            ("ok", {"code": 0, "stderr_tail": b"usage limit reached\n"}, "ok"),
        ],
    )
    def test_a_good_end_needs_the_event_and_the_process(self, read: TurnKind, end: dict[str, Any], kind: str) -> None:
        assert after(read, **end).kind == kind

    @pytest.mark.req("C11")
    def test_a_client_asleep_on_a_limit_was_limited_not_late(self) -> None:
        said = b"Attempt 1 failed. Retrying after 7200000ms...\n"
        for end in ("stop", "wall"):
            ended = after("crashed", slept="asleep", code=None, stderr_tail=said, ended_by=end)
            assert (ended.kind, ended.reset_at) == ("rate_limited", NOW + timedelta(hours=2))
        idle = after("crashed", code=None, stderr_tail=said, ended_by="idle")
        assert idle.reset_at == NOW + timedelta(hours=2) - timedelta(seconds=60)

    def test_a_limit_it_named_before_it_was_ended_stands(self) -> None:
        ended = after("usage_limit", reset_at=NOW, code=None, ended_by="idle")
        assert (ended.kind, ended.reset_at) == ("usage_limit", NOW)

    def test_last_words_that_ask_are_a_question_unless_it_reported(self) -> None:
        ended = after("ok", message="I looked at it.\n\nShall I use SQLite or Postgres?")
        assert (ended.kind, ended.claim.questions[0].text) == ("question", "Shall I use SQLite or Postgres?")
        report = f'```flyball-report\n{{"nonce": "{NONCE}", "status": "complete"}}\n```'
        assert after("ok", message=f"{report}\n\nAnything else?").kind == "ok"

    def test_a_question_it_then_answered_itself_is_none(self) -> None:
        report = f'```flyball-report\n{{"nonce": "{NONCE}", "status": "complete"}}\n```'
        ended = after("question", message=report)
        assert (ended.kind, ended.claim.questions) == ("ok", ())

    def test_a_conversation_goes_on_unless_the_program_was_never_started(self) -> None:
        assert after("crashed").session == "s-1"
        assert after("crashed", ended_by="missing", code=None).session == ""


@pytest.mark.req("C11")
def test_a_client_that_says_it_tries_again_and_falls_silent_is_ended_and_was_no_failure(scene: Scene) -> None:
    asleep = 'print("again: 429", flush=True)\ntime.sleep(600)'
    ended = scene.turn(Spoken(asleep, retrying="^again"), patience=Patience(300.0, 300.0, 0.3, 0.2, retry_s=0.5))
    assert (ended.kind, ended.detail) == ("overloaded", "it went to sleep on a limit: again: 429")


def test_a_client_that_goes_to_sleep_on_a_limit_is_ended_at_once(scene: Scene) -> None:
    asleep = 'print("quota. Retrying after 9000000ms...", file=sys.stderr, flush=True)\ntime.sleep(600)'
    ended = scene.turn(Spoken(asleep))
    assert ended.kind == "rate_limited"
    assert ended.reset_at is not None


def test_a_short_retry_is_left_to_the_client(scene: Scene) -> None:
    naps = f'print("Retrying in 2s", file=sys.stderr, flush=True)\ntime.sleep(0.3)\n{OK}'
    assert scene.turn(Spoken(naps)).kind == "ok"


@pytest.mark.parametrize(
    ("total", "before", "share"),
    [
        (Usage(300, 60, 0.3), Usage(100, 20, 0.1), Usage(200, 40, 0.2)),
        (Usage(300, 60, 0.3), Usage(), Usage(300, 60, 0.3)),
        (Usage(50, 10, 0.1), Usage(100, 20, 0.2), Usage(50, 10, 0.1)),
    ],
)
def test_a_turns_share_is_what_came_on_top(total: Usage, before: Usage, share: Usage) -> None:
    assert total.minus(before) == share
