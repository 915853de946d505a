"""Shows how the monitor's thresholds are chosen: on all repositories but one, measured on the one left out, for each in turn.

usage: python benchmarks/thresholds.py TRACES

Two ways to choose: the thresholds that save most among those that keep enough, and the defaults unless others save more by
over a standard error, so that the noise of a few loops moves nothing.
"""

import itertools
import random
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
from replay import POLICIES, TARGETS, Loop, Outcome, Score, load, monitor, replay, score

from flyball.core.health.verdict import Thresholds

BOOTSTRAPS = 200


def candidates() -> list[Thresholds]:
    """The thresholds that are tried; the first are the defaults."""
    grid = itertools.product((2, 3), (3, 2, 4), (2, 1, 3), (5, 4, 6))
    return [
        msgspec.structs.replace(
            Thresholds(),
            same_failure_in_context=failure,
            same_failing_set_in_context=failing_set,
            endings_before_stop=endings,
            contexts=contexts,
        )
        for failure, failing_set, endings, contexts in grid
    ]


class Choice(NamedTuple):
    """What became of every loop, let run and under each of the thresholds tried."""

    baseline: list[Outcome]
    tried: list[list[Outcome]]

    def greedy(self, places: list[int]) -> int:
        """The thresholds that save most on these loops among those that keep what must be kept."""

        def worth(number: int) -> tuple[bool, float]:
            reached = self.score(number, places)
            keeps = reached.passes >= TARGETS[0] and not reached.resolved < TARGETS[1]
            return keeps, reached.saved if keeps else reached.passes

        return max(range(len(self.tried)), key=worth)

    def cautious(self, places: list[int]) -> int:
        """The defaults, unless others that keep as much save more by over a standard error of what they save."""
        best = self.greedy(places)
        chance = random.Random(0)
        samples = [self.score(best, chance.choices(places, k=len(places))).saved for _ in range(BOOTSTRAPS)]
        gain = self.score(best, places).saved - self.score(0, places).saved
        return best if gain > statistics.stdev(samples) else 0

    def score(self, number: int, places: list[int]) -> Score:
        return score([self.tried[number][place] for place in places], [self.baseline[place] for place in places])


def leave_one_out(loops: list[Loop]) -> None:
    """Prints what the thresholds chosen on the other repositories reach on each."""
    tried = candidates()
    runs = [[replay(loop, monitor(thresholds)) for loop in loops] for thresholds in tried]
    choice = Choice([replay(loop, POLICIES["let it run"]) for loop in loops], runs)
    for name, chosen in (("most saved", choice.greedy), ("one standard error", choice.cautious)):
        picked: dict[int, Outcome] = {}
        for repository in sorted({loop.repository for loop in loops}):
            own = [place for place, loop in enumerate(loops) if loop.repository == repository]
            number = chosen([place for place, loop in enumerate(loops) if loop.repository != repository])
            picked |= {place: runs[number][place] for place in own}
            print(f"{name}: {repository} ({len(own)} loops) left out: {_differing(tried[number])}")
        reached = score([picked[place] for place in sorted(picked)], choice.baseline)
        print(f"{name}: on repositories left out: " + ", ".join(f"{value:.1%}" for value in reached))


def _differing(thresholds: Thresholds) -> str:
    defaults = msgspec.structs.asdict(Thresholds())
    other = {name: value for name, value in msgspec.structs.asdict(thresholds).items() if value != defaults[name]}
    return ", ".join(f"{name} {value}" for name, value in other.items()) or "the defaults"


def main(arguments: list[str]) -> int:
    """Prints each choice and what it reaches."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2 if arguments else 0
    leave_one_out(load(Path(arguments[0])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
