"""A stop ends whatever runs."""

from __future__ import annotations

import signal
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from flyball.process import Exit, StopFlag

if TYPE_CHECKING:
    from tests.process.conftest import Scene

FOR_EVER = "while True: time.sleep(60)\n"


@pytest.mark.req("C60")
def test_a_stop_from_another_thread_ends_the_tree_promptly(scene: Scene) -> None:
    up = "open('up', 'w').write('SIGINT')\n"
    ended = scene.run(
        scene.daemon("time.sleep(60)") + up + FOR_EVER, stop=scene.stop_when(partial(scene.appears, "up"))
    )
    assert (ended.ended_by, ended.signal) == ("stop", signal.SIGTERM)
    assert "SIGINT" in ended.detail
    assert not scene.alive()


def test_a_stop_that_cannot_wake_is_noticed_all_the_same(scene: Scene) -> None:
    assert scene.run(FOR_EVER, stop=threading_stop(0.2)).ended_by == "stop"


class EventStop:
    def __init__(self) -> None:
        self.event = threading.Event()

    def is_set(self) -> bool:
        return self.event.is_set()

    def set(self, reason: str = "") -> None:
        self.event.set()


def threading_stop(seconds: float) -> EventStop:
    stop = EventStop()
    threading.Timer(seconds, stop.set).start()
    return stop


def test_a_stop_already_given_starts_nothing(scene: Scene) -> None:
    stop = StopFlag()
    stop.set("first")
    stop.set("second")
    ended = scene.run("open('ran', 'w')", stop=stop)
    assert (ended.ended_by, ended.code, stop.reason) == ("stop", None, "first")
    assert not (scene.folder / "ran").exists()


def test_one_stop_ends_every_run_that_has_it(scene: Scene) -> None:
    stop, ends = StopFlag(), list[Exit]()
    argv = scene.program(FOR_EVER)
    threads = [threading.Thread(target=lambda: ends.append(scene.run(argv, stop=stop))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert scene.eventually(lambda: len(scene.alive()) == 3)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert [ended.ended_by for ended in ends] == ["stop"] * 3


def test_a_stop_cuts_short_the_wait_for_what_was_left_running(scene: Scene) -> None:
    began = time.monotonic()
    stop = scene.stop_when(lambda: time.monotonic() - began > 1.5)
    ended = scene.run(["sh", "-c", "sleep 600 &"], stop=stop, linger=300)
    assert (ended.ended_by, ended.code, ended.strays) == ("exit", 0, 1)
    assert ended.seconds < 200
