"""The learnings of a task for people: what became of each, and which were given to its turns."""

from msgspec.structs import replace

from flyball.core.memory.settling import LearningEntry, settle
from flyball.core.memory.standing import remember
from flyball.core.model import events as ev
from flyball.core.model.effects import RunAgent
from flyball.core.model.learnings import Learnings
from flyball.core.model.outcomes import Recalled
from flyball.projections.history import records as rec
from flyball.projections.wording import plain


class LearningLedger:
    """Give it every event of one task in order, with the stage the task is in."""

    def __init__(self) -> None:
        self.given: dict[str, rec.LearningGiven] = {}
        self._task = ""
        self._learnings = Learnings()
        self._stages: dict[int, str] = {}
        self._records: list[rec.Learning] | None = []
        self._working: dict[str, RunAgent] = {}

    def add(self, event: ev.Event, stage: str) -> None:
        remember(self._learnings, event)
        self._records = None if self._learnings.known else self._records
        match event.fact:
            case ev.TaskOpened() as opened:
                self._task = opened.task.id
            case ev.LearningRecorded() as recorded:
                self._stages[recorded.number] = stage
                if recorded.source in {"review", "conflict"}:
                    self._reject(recorded)
            case ev.Begun(effect=RunAgent() as effect):
                if not effect.copy:
                    self._working[effect.item or effect.lane] = effect
                for key in effect.recalled:
                    known = self.given.get(key)
                    if known is not None and effect.turn not in known.turns:
                        self.given[key] = replace(known, turns=(*known.turns, effect.turn))
            case ev.Ended(outcome=Recalled() as recalled):
                for each in recalled.learnings:
                    first = rec.LearningGiven(each.id, each.kind, plain(each.title, 160), plain(each.why, 200))
                    self.given.setdefault(each.id, first)

    def records(self) -> list[rec.Learning]:
        if self._records is None:
            entries = settle({self._task: self._learnings})
            self._records = [
                self._record(entries[key]) for key in sorted(entries, key=lambda k: entries[k].fact.number)
            ]
        return self._records

    def in_prompts(self) -> tuple[rec.LearningGiven, ...]:
        return tuple(each for each in self.given.values() if each.turns)

    def _reject(self, lesson: ev.LearningRecorded) -> None:
        """The work a lesson is about was made with what its last turn was given."""
        effect = self._working.get(lesson.item or lesson.lane)
        for key in effect.recalled if effect is not None else ():
            known = self.given.get(key)
            if known is not None and effect is not None and effect.turn not in known.rejected:
                self.given[key] = replace(known, rejected=(*known.rejected, effect.turn))

    def _record(self, entry: LearningEntry) -> rec.Learning:
        fact = entry.fact
        return rec.Learning(
            fact.number,
            fact.kind,
            plain(fact.title, 160),
            entry.at,
            self._stages.get(fact.number, ""),
            fact.turn,
            plain(fact.context, 400),
            plain(fact.choice, 400),
            _texts(fact.alternatives, 200),
            plain(fact.consequences, 400),
            _texts(fact.depends_on, 80),
            plain(fact.invalidated_if, 200),
            plain(fact.item, 40),
            tuple(plain(path) for path in fact.files),
            fact.commit,
            _texts(fact.supersedes, 80),
            fact.source,
            entry.standing,
            plain(entry.because, 300),
            entry.by,
            plain(entry.check, 200),
        )


def _texts(texts: tuple[str, ...], limit: int) -> tuple[str, ...]:
    return tuple(text for text in (plain(raw, limit) for raw in texts[:8]) if text)
