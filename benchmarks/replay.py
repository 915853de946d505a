"""Replays recorded edit-test loops through the monitor and through policies of the known kind.

usage: python benchmarks/replay.py TRACES...

A recorded try is a context: `fresh-context` (or `rollback`) skips to the next recorded try, `stop` ends the loop, a gate that
holds ends it too. Where a recording says what one iteration passed on to the next (`carries`), no iteration can be skipped: such
a loop is replayed as it ran, and only `stop` ends it. Kept: of the loops that pass when nothing intervenes, those that still do;
resolved are those that passed hidden tests, too. Saved: money against letting every loop run. Never caught: loops without a pass
in which the policy never once intervened. Saved on failing: money on loops without a pass. In brackets, 95 % of bootstrap samples
of the loops.
"""

import difflib
import itertools
import json
import lzma
import math
import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.core.advice.stream import GateOutput, StreamObservation, advise, of_stream
from flyball.core.failures.signature import signature
from flyball.core.health.history import History
from flyball.core.health.monitor import follow
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import Remedy, Thresholds
from flyball.core.text.strict_json import read_json

CONTINUE, FRESH, STOP = "continue", "fresh", "stop"
BOOTSTRAPS = 2000
TARGETS = (0.98, 1.0, 0.40, 0.10)
SKIPPING = "target: passes kept ≥ {:.0%}, resolved kept {:.0%}, saved ≥ {:.0%}, never caught ≤ {:.0%}".format(*TARGETS)
AS_RUN = "target: passes kept ≥ 95%, saved on failing ≥ 25%"


class Step(NamedTuple):
    """One recorded iteration: the line a stream would get, and what the monitor sees in it."""

    line: bytes
    seen: Observation
    status: str
    error: str
    prose: str
    usd: float


class Loop(NamedTuple):
    """One recorded loop: contexts of steps."""

    name: str
    repository: str
    resolved: bool
    contexts: list[list[Step]]
    as_run: bool = False

    @property
    def passes(self) -> bool:
        """Whether the gate held in the end."""
        return any(step.status == "pass" for context in self.contexts for step in context)


class Outcome(NamedTuple):
    """What became of a loop under a policy."""

    loop: Loop
    passed: bool
    usd: float
    caught: bool
    stopped: bool


Judge = Callable[[Step], str]
Policy = Callable[[], Judge]


def load(path: Path) -> list[Loop]:
    """The loops of a trace file."""
    raw = path.read_bytes()
    lines = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode().splitlines()
    return [loop for loop in map(_loop, map(json.loads, lines)) if loop.contexts]


def _loop(record: dict[str, Any]) -> Loop:
    carries = record.get("carries")
    contexts = [
        [
            _step(number, item, begins=index == 0 and carries in {None, "feedback"})
            for index, (number, item) in enumerate(group)
        ]
        for _, group in itertools.groupby(enumerate(record["its"], 1), key=lambda pair: pair[1]["t"])
    ]
    repository = record.get("task") or record["id"].split("__")[0]
    return Loop(record["id"], repository, bool(record["resolved"]), contexts, as_run=carries is not None)


def _step(number: int, item: dict[str, Any], begins: bool) -> Step:
    """An edit that could not be applied has run no gate."""
    output = item["out"] or ""
    gate = GateOutput("test", item["status"] == "pass", output, tuple(item["fails"] or ()))
    line = StreamObservation(
        iteration=number,
        context=item["t"] + 1,
        edit=item["edit_hash"],
        changed_files=None if item["applied"] is None and item["edit_hash"] is None else tuple(item["applied"] or ()),
        restored=begins and number > 1,
        gates=() if item["status"] == "edit_error" else (gate,),
        usd=item["cost"] or 0.0,
    )
    seen = of_stream(line, History())
    error = _gate_text(output)
    return Step(msgspec.json.encode(line), seen, item["status"], error, item["asst"] or "", item["cost"] or 0.0)


def _gate_text(output: str) -> str:
    """The gate's own words, so that policies which compare them raw are not misled by what the recording tool said around."""
    for chatter in ("\nAttempt to fix test errors?", "\nOnly 4 reflections allowed"):
        output = output.partition(chatter)[0]
    return "\n".join(line for line in output.splitlines() if not line.startswith("Applied edit to "))


def replay(loop: Loop, policy: Policy) -> Outcome:
    """Lets the policy judge each step of the loop."""
    judge = policy()
    usd, caught = 0.0, False
    for context in loop.contexts:
        for step in context:
            usd += step.usd
            if step.status == "pass":
                return Outcome(loop, True, usd, caught, False)
            word = judge(step)
            caught = caught or word != CONTINUE
            if word == STOP:
                return Outcome(loop, False, usd, True, True)
            if word == FRESH and not loop.as_run:
                break
    return Outcome(loop, False, usd, caught, False)


def stream() -> Judge:
    """Asks the monitor as `flyball monitor --stream` does: each iteration as a line of JSON."""
    history = History()

    def judge(step: Step) -> str:
        nonlocal history
        history, advice = advise(history, read_json(step.line, StreamObservation))
        return _word(advice.remedy)

    return judge


def monitor(thresholds: Thresholds) -> Policy:
    """The same with other thresholds, each output signed only once."""

    def start() -> Judge:
        history = History()

        def judge(step: Step) -> str:
            nonlocal history
            history, verdict = follow(history, step.seen, thresholds)
            return _word(verdict.remedy)

        return judge

    return start


def _word(remedy: Remedy) -> str:
    return CONTINUE if remedy is Remedy.CONTINUE else STOP if remedy in {Remedy.STOP, Remedy.ASK} else FRESH


def counting(limit: int, key: Callable[[Step], object], word: str = STOP) -> Policy:
    """Stops at so many equal keys in a row; a key of None breaks the row."""

    def start() -> Judge:
        row: list[object] = []

        def judge(step: Step) -> str:
            value = key(step)
            if value is None or (row and row[-1] != value):
                row.clear()
            if value is not None:
                row.append(value)
            return word if len(row) >= limit else CONTINUE

        return judge

    return start


def similar_prose(share: float, limit: int) -> Policy:
    """Stops when so many answers in a row resemble the one before."""

    def start() -> Judge:
        last, row = "", 1

        def judge(step: Step) -> str:
            nonlocal last, row
            match = difflib.SequenceMatcher(None, last[:2000], step.prose[:2000], autojunk=False)
            alike = match.real_quick_ratio() >= share and match.quick_ratio() >= share and match.ratio() >= share
            row = row + 1 if last and alike else 1
            last = step.prose
            return STOP if row >= limit else CONTINUE

        return judge

    return start


POLICIES: dict[str, Policy] = {
    "let it run": lambda: lambda _step: CONTINUE,
    "max 3 iterations": counting(3, lambda _step: True),
    "max 5 iterations": counting(5, lambda _step: True),
    "max 10 iterations": counting(10, lambda _step: True),
    "identical edit 3x": counting(3, lambda step: step.seen.edit),
    "three failed edits": counting(3, lambda step: True if step.status == "edit_error" else None),
    "breaker: raw error text 5x": counting(5, lambda step: step.error),
    "breaker: first error line 5x": counting(5, lambda step: signature(step.error).summary),
    "90 % similar prose 3x": similar_prose(0.9, 3),
    "flyball monitor": stream,
}


class Score(NamedTuple):
    """What a policy reached."""

    passes: float
    resolved: float
    saved: float
    uncaught: float
    unstopped: float
    saved_on_failing: float


def score(outcomes: Iterable[Outcome], baseline: Iterable[Outcome]) -> Score:
    """The numbers of a table row."""
    pairs = list(zip(outcomes, baseline, strict=True))
    passing = [mine for mine, _ in pairs if mine.loop.passes]
    resolved = [mine for mine in passing if mine.loop.resolved]
    doomed = [mine for mine, _ in pairs if not mine.loop.passes]
    return Score(
        _share([mine.passed for mine in passing]),
        _share([mine.passed for mine in resolved]),
        _saved(pairs),
        _share([not mine.caught for mine in doomed]),
        _share([not mine.stopped for mine in doomed]),
        _saved([(mine, theirs) for mine, theirs in pairs if not mine.loop.passes]),
    )


def _saved(pairs: list[tuple[Outcome, Outcome]]) -> float:
    whole = sum(theirs.usd for _, theirs in pairs)
    return 1 - sum(mine.usd for mine, _ in pairs) / whole if whole else 0.0


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else float("nan")


def intervals(outcomes: list[Outcome], baseline: list[Outcome]) -> list[tuple[float, float]]:
    """95 % bootstrap intervals, resampling loops."""
    chance = random.Random(0)
    pairs = list(zip(outcomes, baseline, strict=True))
    samples = []
    for _ in range(BOOTSTRAPS):
        mine, theirs = zip(*chance.choices(pairs, k=len(pairs)), strict=True)
        samples.append(score(mine, theirs))
    columns = [sorted(value for value in column if not math.isnan(value)) for column in zip(*samples, strict=True)]
    nothing = [float("nan")]
    return [(row[len(row) // 40], row[-1 - len(row) // 40]) for row in (column or nothing for column in columns)]


def table(loops: list[Loop], policies: dict[str, Policy]) -> None:
    """Prints one row per policy."""
    baseline = [replay(loop, POLICIES["let it run"]) for loop in loops]
    heads = ("passes kept", "resolved kept", "money saved", "never caught", "never stopped", "saved on failing")
    print(f"{'policy':30}" + "".join(f"{head:>22}" for head in heads))
    for name, policy in policies.items():
        outcomes = [replay(loop, policy) for loop in loops]
        cells = zip(score(outcomes, baseline), intervals(outcomes, baseline), strict=True)
        print(f"{name:30}" + "".join(_cell(value, *interval) for value, interval in cells))


def _cell(value: float, low: float, high: float) -> str:
    return f"{'not recorded':>22}" if math.isnan(value) else f"{value:9.1%} [{low:4.0%},{high:4.0%}]"


def main(arguments: list[str]) -> int:
    """Prints a table for each set of traces."""
    if not arguments or not all(Path(name).is_file() for name in arguments):
        print(__doc__, file=sys.stderr)
        return 2 if arguments else 0
    for name in arguments:
        loops = load(Path(name))
        passing = [loop for loop in loops if loop.passes]
        resolved = sum(loop.resolved for loop in passing)
        print(f"{Path(name).name}: {len(loops)} loops, {len(passing)} pass, {resolved} of them resolved")
        print(AS_RUN if any(loop.as_run for loop in loops) else SKIPPING)
        table(loops, POLICIES)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
