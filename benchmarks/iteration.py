"""How many modules of flyball run in one plain GREEN iteration of `tdd`.

    python benchmarks/iteration.py [--names]

The feature of `price.py` is worked with `tdd` while a profiler notes, for each millisecond, the modules in which a function is
called. Counted are those between the beginning of the first turn of GREEN and its verdict.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from price import WAYS, Shop

HERE = Path(__file__).resolve()


def trace(log: Path, words: list[str]) -> None:
    """Run `flyball` with these words, and write which of its modules ran in which millisecond."""
    seen: set[tuple[int, str]] = set()
    inside = f"{os.sep}flyball{os.sep}"

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and inside in (name := frame.f_code.co_filename):
            seen.add((time.time_ns() // 1_000_000, name))

    sys.argv = ["flyball", *words]
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        runpy.run_module("flyball", run_name="__main__")
    finally:
        sys.setprofile(None)
        with log.open("a") as file:
            file.writelines(f"{at} {name.rpartition(inside)[2]}\n" for at, name in sorted(seen))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="flyball-iteration-") as made:
        folder = Path(made)
        log = folder / "modules.log"
        shop = Shop(folder, (str(HERE), "--trace", str(log)))
        price = shop.buy("tdd", WAYS["tdd"])
        begins, ends = _green(shop.events())
        calls = (line.split() for line in log.read_text().splitlines())
        modules = sorted({name for at, name in calls if begins <= int(at) <= ends})
    rooms = Counter(str(Path(name).parent) for name in modules)
    print(f"{price.decision}: {len(modules)} modules in {len(rooms)} rooms")
    for line in modules if "--names" in sys.argv else [f"{count:>5} {room}" for room, count in rooms.most_common()]:
        print(line)


def _green(events: list[dict[str, Any]]) -> tuple[int, int]:
    """From the beginning of the first turn of GREEN to the verdict on it, in milliseconds."""
    at = [int(datetime.fromisoformat(event["at"]).timestamp() * 1000) for event in events]
    facts = [event["fact"] for event in events]
    begun = next(n for n, fact in enumerate(facts) if fact.get("effect", {}).get("stage") == "GREEN")
    judged = next(n for n, fact in enumerate(facts) if n > begun and fact["fact"] == "iteration.judged")
    return at[begun], at[judged]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        trace(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
