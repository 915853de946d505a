"""What every agent adapter must do, as tests: subclass `AgentSuite` in a pytest module and give it a fixture named `factory`.

The factory makes an agent that will play what a `Play` says, with whatever technology it is built on: a program, a script, a
client against a scripted model. A play it cannot have played it skips with `pytest.skip`.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest

from flyball.agents.run.frame import Patience
from flyball.agents.run.transcript import TranscriptExists
from flyball.clock import system_clock
from flyball.core.model.effects import RunAgent
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.task import EffectId
from flyball.ports import Agent
from flyball.process import StopFlag
from flyball.warden import processes

PROMPT = "# GREEN: implementer\nMake it work – ünïcode, too.\n{nonce}\n"
LONG_S = 600.0
"""A play that sleeps so long is ended before it goes on."""
WENT_ON = "it went on"
SILENT_S = 2.0
"""Silence after which a turn is ended; by then its program must have written its first file."""
QUICK = Patience(wall_s=300.0, idle_s=300.0, grace_s=0.3, linger_s=0.2)


class Play(msgspec.Struct, frozen=True):
    """What the agent is to do in its turn, in this order; the report gets the turn's nonce unless it has one (None: none)."""

    missing: bool = False
    write: dict[str, str] = {}
    prompt_to: str = ""
    daemon: bool = False
    output_bytes: int = 0
    binary: bool = False
    ignore_sigterm: bool = False
    sleep_s: float = 0.0
    report: dict[str, Any] | None = None
    say: str = ""
    stderr: str = ""
    exit_code: int = 0


class Factory(Protocol):
    def __call__(self, play: Play, patience: Patience = QUICK) -> Agent: ...


class TurnPlace:
    """A tree and a folder for each turn, and proof of what is left running."""

    def __init__(self, folder: Path, factory: Factory) -> None:
        self.folder, self.factory = folder, factory
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.nonce = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
        self.lines: list[tuple[str, str]] = []
        self.turns = 0

    def play(self, play: Play, patience: Patience = QUICK, **request: Any) -> TurnEnded:
        return self.turn(self.factory(play, patience), StopFlag(), **request)

    def turn(self, agent: Agent, stop: StopFlag, **request: Any) -> TurnEnded:
        self.turns += 1
        asked = msgspec.structs.replace(A_TURN, turn=self.turns, **request)
        watch = self.lines.append
        return agent.turn(
            asked, tree=self.tree, folder=self.transcript, nonce=self.nonce, stop=stop, notify=lambda *line: watch(line)
        )

    @property
    def transcript(self) -> Path:
        return self.folder / "turns" / str(self.turns)

    def read(self, name: str) -> bytes:
        """A file of the last turn's transcript."""
        return (self.transcript / name).read_bytes()

    def once_running(self, act: Callable[[], None]) -> None:
        """Act when the turn's program and what it started are there; on a busy machine nobody knows when that is."""

        def watch() -> None:
            until = system_clock.monotonic() + LONG_S
            while len(self.left_running()) < 2 and system_clock.monotonic() < until:
                time.sleep(0.05)
            act()

        threading.Thread(target=watch, daemon=True).start()

    def left_running(self) -> list[int]:
        """Processes that still have the turn's nonce in their environment."""
        mark, found = f"FLYBALL_NONCE={self.nonce}".encode(), []
        for process in processes():
            try:
                environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in environment and process.state not in "ZX" and process.pid != os.getpid():
                found.append(process.pid)
        return found


A_TURN = RunAgent(
    EffectId("turn/1"), role="implementer", stage="GREEN", agent="tried", model="some-model", prompt=PROMPT, iteration=3, turn=1, item="AC-1"
)  # fmt: skip


class _Suite:
    @pytest.fixture
    def stage(self, tmp_path: Path, factory: Factory) -> TurnPlace:
        return TurnPlace(tmp_path, factory)


class Working(_Suite):
    """A turn that goes well."""

    def test_a_turn_without_an_error_is_ok_and_its_edits_stand_in_the_tree(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(write={"src/made.py": "made = True\n"}))
        assert (ended.kind, ended.exit_code) == ("ok", 0)
        assert (stage.tree / "src" / "made.py").read_text() == "made = True\n"
        assert ended.seconds == msgspec.json.decode(stage.read("turn.json"))["seconds"]

    def test_the_prompt_is_delivered_whole_with_the_nonce_filled_in(self, stage: TurnPlace) -> None:
        prompt = PROMPT + "a line of a long prompt\n" * 20_000
        ended = stage.play(Play(prompt_to="received.md"), prompt=prompt)
        assert ended.kind == "ok"
        assert (stage.tree / "received.md").read_text() == prompt.replace("{nonce}", stage.nonce)

    def test_the_final_message_is_what_it_said_last(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(say="I made it work.\nIt is tested."))
        assert ended.final_message.rstrip().endswith("I made it work.\nIt is tested.")

    def test_whoever_watches_sees_what_it_says_without_control_sequences(self, stage: TurnPlace) -> None:
        stage.play(Play(say="first\n\x1b[31mlast words\x1b[0m"))
        assert stage.lines[-1] == ("output", "last words")

    def test_usage_is_what_the_report_says(self, stage: TurnPlace) -> None:
        metrics = {"input_tokens": 1200, "output_tokens": 34, "usd": 0.25}
        usage = stage.play(Play(report={"metrics": metrics})).usage
        assert (usage.input_tokens, usage.output_tokens, usage.usd, usage.estimated) == (1200, 34, 0.25, False)


class Claiming(_Suite):
    """What it says of its own work."""

    def test_a_report_with_the_nonce_is_believed_to_be_its_own(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(report={"status": "complete", "exit_signal": True, "summary": "done"}))
        assert (ended.claim.status, ended.claim.exit_signal, ended.claim.summary) == ("complete", True, "done")
        assert ended.claim.problems == ()

    @pytest.mark.parametrize("nonce", ["0" * 32, "", None])
    def test_a_report_without_this_turns_nonce_is_refused_and_named(self, stage: TurnPlace, nonce: str | None) -> None:
        claim = stage.play(Play(report={"nonce": nonce, "status": "complete", "exit_signal": True})).claim
        assert (claim.status, claim.exit_signal, claim.source) == ("", False, "none")
        assert "nonce" in claim.problems[0]

    def test_a_fenced_report_in_the_final_message_is_a_claim(self, stage: TurnPlace) -> None:
        report = f'```flyball-report\n{{"nonce": "{stage.nonce}", "verdict": "pass"}}\n```'
        claim = stage.play(Play(say=f"Finished.\n\n{report}\n")).claim
        assert (claim.verdict, claim.source) == ("pass", "fenced-block")

    def test_a_marker_in_its_own_words_is_a_claim(self, stage: TurnPlace) -> None:
        claim = stage.play(Play(say="Verdict: PASS")).claim
        assert (claim.verdict, claim.source) == ("pass", "native")

    def test_a_marker_that_stands_in_the_tree_is_none(self, stage: TurnPlace) -> None:
        (stage.tree / "log.txt").write_text("…\nVerdict:\n   PASS, all of it\n")
        claim = stage.play(Play(say="Verdict: PASS, all of it")).claim
        assert (claim.verdict, claim.source) == ("", "none")
        assert "the prompt or the tree" in claim.problems[0]

    def test_a_marker_that_stands_in_the_prompt_is_none(self, stage: TurnPlace) -> None:
        claim = stage.play(Play(say="Status: COMPLETE"), prompt="End with\nStatus: COMPLETE\n").claim
        assert (claim.status, claim.source) == ("", "none")


class Failing(_Suite):
    """A turn that does not go well is an outcome with a reason, never an exception."""

    def test_a_failed_program_has_crashed_whatever_it_reported(self, stage: TurnPlace) -> None:
        play = Play(report={"exit_signal": True}, stderr="opening the gate\nit is stuck", exit_code=3)
        ended = stage.play(play)
        assert (ended.kind, ended.exit_code) == ("crashed", 3)
        assert "it is stuck" in ended.detail
        assert ended.claim.exit_signal

    def test_a_missing_program_is_not_installed_and_the_detail_says_what_to_do(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(missing=True))
        assert ended.kind == "not_installed"
        assert "install" in ended.detail

    def test_a_usage_limit_is_recognised_with_its_reset(self, stage: TurnPlace) -> None:
        before = system_clock.now()
        ended = stage.play(Play(stderr="You've hit your usage limit. Try again in 1h 20m.", exit_code=1))
        assert ended.kind == "usage_limit"
        assert ended.reset_at is not None
        assert before <= ended.reset_at - timedelta(minutes=80) <= system_clock.now()

    def test_a_limit_it_only_quotes_is_none(self, stage: TurnPlace) -> None:
        quoted = "The log says: usage limit reached, try again in 1h 20m."
        assert stage.play(Play(say=quoted)).kind == "ok"
        ended = stage.play(Play(say=quoted, stderr="it is stuck", exit_code=1))
        assert (ended.kind, ended.reset_at) == ("crashed", None)

    def test_a_turn_that_never_ends_is_ended_at_its_time_limit(self, stage: TurnPlace) -> None:
        patience = Patience(wall_s=1.0, idle_s=None, grace_s=0.3, linger_s=0.2)
        ended = stage.play(Play(sleep_s=LONG_S, say=WENT_ON), patience)
        assert (ended.kind, ended.exit_code) == ("timed_out", None)
        assert "time limit of 1 s" in ended.detail
        assert WENT_ON not in ended.final_message
        assert stage.left_running() == []

    def test_a_silent_turn_is_ended_and_its_partial_work_kept(self, stage: TurnPlace) -> None:
        patience = Patience(wall_s=LONG_S, idle_s=SILENT_S, grace_s=0.3, linger_s=0.2)
        ended = stage.play(Play(write={"half.txt": "half\n"}, sleep_s=LONG_S), patience)
        assert ended.kind == "timed_out"
        assert "without output" in ended.detail
        assert (stage.tree / "half.txt").read_text() == "half\n"
        assert stage.left_running() == []


class Stopping(_Suite):
    """However a turn ends, nothing of it goes on."""

    @pytest.mark.parametrize("stubborn", [False, True])
    def test_a_stop_ends_the_whole_process_tree(self, stage: TurnPlace, stubborn: bool) -> None:
        play, stop = Play(daemon=True, ignore_sigterm=stubborn, sleep_s=LONG_S, say=WENT_ON), StopFlag()
        stage.once_running(lambda: stop.set("the person pressed Ctrl-C"))
        ended = stage.turn(stage.factory(play, QUICK), stop)
        assert ended.kind == "interrupted"
        assert "Ctrl-C" in ended.detail
        assert WENT_ON not in ended.final_message
        assert stage.left_running() == []

    def test_a_stop_before_the_start_starts_nothing(self, stage: TurnPlace) -> None:
        stop = StopFlag()
        stop.set("too late")
        assert stage.turn(stage.factory(Play(write={"made": "x"}), QUICK), stop).kind == "interrupted"
        assert not (stage.tree / "made").exists()

    def test_a_daemon_it_leaves_is_ended_and_counted(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(daemon=True))
        assert ended.kind == "ok"
        assert stage.left_running() == []


class Recording(_Suite):
    """Every turn's raw output is kept, and memory does not grow with it."""

    def test_the_transcript_is_complete(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(report={"summary": "kept"}, say="said aloud", stderr="said aside"))
        assert ended.transcript == str(stage.transcript.resolve())
        assert stage.read("prompt.md").decode() == PROMPT.replace("{nonce}", stage.nonce)
        assert b"said aloud" in stage.read("stdout")
        assert b"said aside" in stage.read("stderr")
        assert msgspec.json.decode(stage.read("report.json"))["summary"] == "kept"
        record = msgspec.json.decode(stage.read("turn.json"))
        assert (record["exit_code"], record["ended_by"], record["cwd"]) == (0, "exit", str(stage.tree))
        assert record["begun_at"] <= record["ended_at"]
        assert record["argv"]

    def test_an_earlier_attempt_is_never_overwritten(self, stage: TurnPlace) -> None:
        agent = stage.factory(Play(say="first"), QUICK)
        stage.turn(agent, StopFlag())
        before = {path.name: path.read_bytes() for path in stage.transcript.iterdir()}
        stage.turns -= 1
        with pytest.raises(TranscriptExists):
            stage.turn(agent, StopFlag())
        assert {path.name: path.read_bytes() for path in stage.transcript.iterdir()} == before

    def test_huge_output_is_kept_whole_and_only_its_end_is_a_message(self, stage: TurnPlace) -> None:
        size = 30 * 1024 * 1024
        ended = stage.play(Play(output_bytes=size, say="the end"))
        assert ended.kind == "ok"
        assert (stage.transcript / "stdout").stat().st_size >= size
        assert len(ended.final_message) <= 64 * 1024
        assert ended.final_message.rstrip().endswith("the end")

    def test_binary_output_is_kept_and_harmless(self, stage: TurnPlace) -> None:
        ended = stage.play(Play(output_bytes=100_000, binary=True))
        assert ended.kind == "ok"
        assert len(stage.read("stdout")) >= 100_000
        assert "\x1b" not in ended.final_message
        assert msgspec.json.decode(msgspec.json.encode(ended), type=TurnEnded) == ended


class AgentSuite(Working, Claiming, Failing, Stopping, Recording):
    """All of it."""
