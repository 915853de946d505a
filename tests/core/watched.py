"""A simulated controller that may be killed after any append, and sees whether a fact of one lane touches another."""

import random

import msgspec
from tests.support.simulator import Simulator, World

from flyball.core.model.effects import Effect
from flyball.core.model.events import Begun, Ended, Fact, PersonSpoke, SessionStarted
from flyball.core.model.task import Task
from flyball.engine.recovery import reconcile_open_effects


class Watched(Simulator):
    """Effects end in the order the dice give; `kills` is how likely a kill is after each append."""

    def __init__(self, world: World, task: Task, stage: str, *, dice: random.Random, kills: float) -> None:
        self.dice = dice
        self.kills = 0.0
        super().__init__(world, task, stage, pick=dice.choice)
        self.kills = kills

    def append(self, *facts: Fact) -> None:
        for fact in facts:
            lane, before = self._lane_of(fact), self._lanes()
            super().append(fact)
            if lane:
                after = self._lanes()
                touched = {name for name in before if name != lane and after.get(name) != before[name]}
                told = type(fact.outcome if isinstance(fact, Ended) else fact).__name__
                assert not touched, f"{told} of {lane} touched {touched}"
        if self.kills and self.known.stopped is None and self.dice.random() < self.kills:
            kills, self.kills = self.kills, 0.0
            super().append(SessionStarted(2, "simulated", "0"))
            super().append(*reconcile_open_effects(self.known))
            self.kills = kills

    def end(self, effect: Effect) -> None:
        if effect.id in self.known.open:
            super().end(self.known.open[effect.id])

    def _lanes(self) -> dict[str, bytes]:
        return {} if self.state is None else {n: msgspec.json.encode(lane) for n, lane in self.state.lanes.items()}

    def _lane_of(self, fact: Fact) -> str:
        """The lane a fact is about; an outcome is about its effect's, which the state forgets when it takes the outcome."""
        match fact:
            case PersonSpoke():
                return ""
            case Begun():
                return str(fact.effect.lane)
            case Ended():
                return str(self.known.open[fact.id].lane)
        return str(getattr(fact, "lane", ""))
