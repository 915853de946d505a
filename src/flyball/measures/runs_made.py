"""What was found out about trees during a task, so that nothing is run twice.

A run of the gates is made once for each tree, set of gates and environment, as long as it passes: what failed may have failed over
something outside of all three, and is run again.
"""

import msgspec

from flyball.core.model.measurement import Noticed, Remark
from flyball.measures.gates.running import Round

MOST_TREES = 32
"""Trees of which the runs are kept."""

RoundKey = tuple[str, frozenset[str], tuple[tuple[str, int], ...]]
"""A tree, the failures that are excused there, and how gates ended with them."""


class RunsMade(msgspec.Struct, eq=False):
    """What holds for one set of gates in one environment: rounds that passed, each with the measurement it was made for; trees in
    which planted failures were `proven` to be reported, and those in which every test passed `twice`.
    """

    rounds: dict[RoundKey, tuple[str, Round]] = {}
    proven: dict[str, tuple[str, ...]] = {}
    twice: dict[str, int] = {}
    alone: dict[tuple[str, str], bool] = {}
    noticed: dict[tuple[str, str], tuple[Noticed, tuple[Remark, ...]]] = {}

    def keep(self, key: RoundKey, measurement: str, passed: Round) -> None:
        self.rounds[key] = (measurement, passed)
        for old in list(self.rounds)[:-MOST_TREES]:
            self.rounds.pop(old, None)
