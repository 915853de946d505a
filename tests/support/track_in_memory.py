"""The documents and evaluators of a track without a disk or a tool: what is measured and judged is scripted."""

from __future__ import annotations

from flyball.core.evaluation.business import BusinessSync
from flyball.core.evaluation.catalogue import BUILT_IN, Pass
from flyball.core.evaluation.choosing import Chosen
from flyball.core.evaluation.findings import PassResult, TrackDefect
from flyball.core.model.effects import Effect
from flyball.core.model.outcomes import Outcome
from flyball.core.workflows.track import effects as fx, plan_text

PAGE = """# Plan

## Phase 1
- [ ] Task 1.1: build the form
  - Acceptance: it shows
  - Files: `form.py`
- [ ] Task 1.2: send it <!-- deps: 1.1 -->
  - Acceptance: it sends
  - Files: `send.py`
"""
QUALITY = Chosen("code-quality", ("word: implement",))


class TrackInMemory:
    """A track folder; each of `measured` is how one evaluation ends, and after the last everything passes."""

    def __init__(
        self, plan: str = PAGE, *measured: fx.TrackMeasured, chosen: tuple[Chosen, ...] = (QUALITY,), sync: bool = False
    ) -> None:
        self.plan = plan
        self.sync = sync
        self.measured = list(measured)
        self.chosen = chosen
        self.edits: list[fx.Edit] = []
        self.stale = 0
        self.completed = False
        self.fix_cycles = 0
        self.max_fix_cycles: int | None = None
        self.max_plan_revisions: int | None = None

    def perform(self, effect: Effect) -> Outcome:
        match effect:
            case fx.ReadTrack():
                return self.read()
            case fx.EditTrack():
                return self.edit(effect)
            case fx.MeasureTrack():
                return self.measured.pop(0) if self.measured else passing(self.chosen, sync=self.sync)
            case fx.CheckAnswers():
                return fx.AnswersChecked({name: passing_answer(name) for name in effect.answers})
        raise AssertionError(f"no effect of a track: {effect}")

    def read(self) -> fx.TrackRead:
        return fx.TrackRead(
            "form_20261117",
            "A form",
            "implement a form",
            self.plan,
            chosen=self.chosen,
            files={"plan.md": str(hash(self.plan))},
            fix_cycles=self.fix_cycles,
            max_fix_cycles=self.max_fix_cycles,
            max_plan_revisions=self.max_plan_revisions,
            completed=self.completed,
        )

    def edit(self, effect: fx.EditTrack) -> fx.TrackEdited | fx.TrackStale:
        if self.stale:
            self.stale -= 1
            return fx.TrackStale("plan.md")
        try:
            for edit in effect.edits:
                self._make(edit)
        except plan_text.TaskNotFound:
            return fx.TrackStale("plan.md")
        return fx.TrackEdited()

    def _make(self, edit: fx.Edit) -> None:
        match edit:
            case fx.WritePlan(text=text):
                self.plan = text
            case fx.SetBox(task=task, mark=mark):
                self.plan = plan_text.with_box(self.plan, task, mark)
            case fx.MarkDone(task=task, sha=sha, summary=summary):
                self.plan = plan_text.with_done(self.plan, task, sha, summary)
            case fx.AddLines(heading=heading, lines=lines):
                self.plan = plan_text.with_section(self.plan, heading, lines)
            case fx.WriteEvaluation(evaluation=evaluation):
                self.fix_cycles += evaluation.verdict == "FAIL"
            case fx.CompleteTrack():
                self.completed = True
        self.edits.append(edit)


def _passes(name: str) -> tuple[Pass, ...]:
    return next(card.passes for card in BUILT_IN if card.name == name)


def passing(chosen: tuple[Chosen, ...] = (QUALITY,), *, sync: bool = False) -> fx.TrackMeasured:
    """Everything that can be measured passes; `sync`: documents of the business are to follow."""
    names = [each.name for each in chosen]
    return fx.TrackMeasured(
        {name: tuple(PassResult(each.name, "pass") for each in _passes(name) if each.measured) for name in names},
        sync=BusinessSync(sync, ("product.md",) if sync else (), ("pricing in form.py",) if sync else ()),
    )


def failing(message: str, chosen: tuple[Chosen, ...] = (QUALITY,)) -> fx.TrackMeasured:
    """One pass of the first evaluator fails with a finding."""
    whole = passing(chosen).passes
    first, *others = whole[chosen[0].name]
    found = PassResult(first.name, "fail", (TrackDefect("rule", message, "form.py", 3, new=True),))
    return fx.TrackMeasured({**whole, chosen[0].name: (found, *others)})


def passing_answer(name: str) -> tuple[PassResult, ...]:
    """What a judge who finds nothing wrong says of each pass that is judged."""
    return tuple(PassResult(each.name, "pass", evidence=("form.py:1",)) for each in _passes(name) if each.judged)
