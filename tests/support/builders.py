"""Journals built by hand, fact by fact, for tests of what is folded from them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from flyball.core.claims.values import Claim
from flyball.core.failures.signature import signature
from flyball.core.fold.evolve import evolve
from flyball.core.health.breaker import CLOSED, Breaker
from flyball.core.health.observation import Observation
from flyball.core.health.verdict import REMEDIES, Health, Verdict
from flyball.core.loop import casting
from flyball.core.loop.workflow import BOTH_GATES
from flyball.core.model import effects as fx, events as ev, outcomes as out
from flyball.core.model.batch_events import LaneOpened
from flyball.core.model.measurement import Check, Counts, Files, GateResult, GateVerdict, Measurement, Scalar, Trick
from flyball.core.model.state import Lane, Loop, State, Visit
from flyball.core.model.task import MAIN, AgentChoice, Commit, EffectId, Gate, Item, Settings, Source, Task, TaskId

OPENED_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
CHANGED = Files(created=1, modified=2)
CRITERIA = (Item("AC-1", "rows are parsed"), Item("AC-2", "empty rows are skipped"))
ROLES = {"RED": "tester", "GREEN": "implementer", "REFACTOR": "refactorer", "DOCUMENT": "documenter", "QA": "qa"}


def tdd_task(
    *, request: str = "parse the rows", items: tuple[Item, ...] = CRITERIA, settings: Settings | None = None
) -> Task:
    """A valid task of the tdd workflow."""
    chosen = settings or Settings(
        gates=(Gate("test", "pytest --junitxml={junit}"),),
        roles={"default": AgentChoice("scripted"), "implementer": AgentChoice("scripted", "large")},
    )
    source = Source("docs/rows.md", "0" * 64)
    return Task(TaskId("007-parse-rows"), "tdd", request, chosen, OPENED_AT, source=source, items=items)


def measurement(
    candidate: str,
    *,
    total: int = 12,
    failing: tuple[str, ...] = (),
    known_failing: int = 0,
    checks: tuple[Check, ...] = (),
    tricks: tuple[Trick, ...] = (),
    files: Files = CHANGED,
    notes: tuple[str, ...] = (),
) -> Measurement:
    """A measurement of one suite of tests."""
    passing = total - len(failing) - known_failing
    counts = Counts(total=total, passing=passing, failing=len(failing), known_failing=known_failing)
    passed = not failing and not tricks
    gate = GateResult("test", "pytest", passed=passed, exit_code=int(bool(failing)), seconds=1.5, counts=counts)
    return Measurement(
        candidate,
        f"tree-of-{candidate}",
        (gate,),
        counts,
        failing=failing,
        green_runs=0 if failing else 2,
        tricks=tricks,
        files=files,
        checks=checks,
        notes=notes,
    )


def verdict(health: str = "PROGRESSING", **changes: Any) -> Verdict:
    """A verdict of the monitor."""
    values: dict[str, Any] = {
        "health": health,
        "recommendation": "continue",
        "cure": REMEDIES[Health(health)][0],
        "confidence": "LOW",
        "trend": "stable",
        "evidence": "first iteration",
    }
    return msgspec.convert({**values, **changes}, Verdict)


class Story:
    """A journal that grows by whole steps; each fact is folded as it is added, so impossible orders fail at once."""

    def __init__(self, task: Task | None = None, stage: str = "RED") -> None:
        self.events: list[ev.Event] = []
        self.at = OPENED_AT
        self._state: State | None = None
        self._lane = MAIN
        self.add(ev.TaskOpened(task or tdd_task(), stage))

    @property
    def state(self) -> State:
        assert self._state is not None
        return self._state

    @property
    def lane(self) -> Lane:
        """The lane that steps are taken in."""
        return self.state.lanes[self._lane]

    def switch_to(self, lane: str) -> Story:
        """Take the next steps in this lane, which is opened if it is not there yet."""
        self._lane = lane
        if lane not in self.state.lanes:
            self.add(LaneOpened(lane, self.state.main.stage, Commit(self.state.main.head), lane))
        return self

    def add(self, *facts: ev.Fact, after_s: float = 1.0) -> Story:
        """Append facts, all at one moment, some seconds after the last."""
        if self.events:
            self.at += timedelta(seconds=after_s)
        for fact in facts:
            event = ev.Event(len(self.events) + 1, self.at, 1, fact)
            self._state = evolve(self._state, event)
            self.events.append(event)
        return self

    def perform(self, effect: fx.Effect, outcome: out.Outcome, *, attempt: int = 1, seconds: float = 1.0) -> Story:
        """An effect from beginning to end."""
        self.add(ev.Begun(replace(effect, attempt=attempt)))
        return self.add(ev.Ended(effect.id, outcome, attempt), after_s=seconds)

    def start(self, *, notes: tuple[str, ...] = (), baseline: Measurement | None = None) -> Story:
        """Session, workspace and baseline."""
        self.add(ev.SessionStarted(4711, "host", "0.1.0"))
        prepared = out.Prepared(Commit("base0000"), "tree-0", f"flyball/{self.state.task.id}", notes)
        self.perform(fx.Prepare(EffectId("prepare")), prepared)
        return self.measure(baseline or measurement("base0000", total=4, files=Files()), name="baseline")

    def turn(self, claim: Claim | None = None, *, role: str = "", seconds: float = 41.0, **outcome: Any) -> Story:
        """A turn of the stage's role, from prompt to saved tree."""
        stage, number = self.lane.stage, self.state.turns + 1
        choice = self.state.task.settings.choice(role or ROLES.get(stage, "implementer"))
        effect = fx.RunAgent(
            EffectId(f"turn/{number}"),
            role=role or ROLES.get(stage, "implementer"),
            stage=stage,
            agent=choice.agent,
            model=choice.model,
            prompt="do it",
            iteration=self.lane.loop.iteration + 1,
            turn=number,
            authors=casting.authors(self.state, self.lane) if stage == "QA" else (),
            product=stage in {"GREEN", "REFACTOR"},
            lane=self.lane.name,
            item=self.lane.item,
        )
        values: dict[str, Any] = {"kind": "ok", "usage": out.Usage(1000, 100, 0.05), "seconds": seconds}
        ended = out.TurnEnded(claim=claim or Claim(), **{**values, **outcome})
        self.perform(effect, ended, seconds=seconds)
        return self.save(f"turn-{number}", name=f"save/{number}")

    def save(self, label: str, *, name: str, accepted: bool = False) -> Story:
        """A kept tree."""
        saved = out.Saved(Commit(f"{len(self.events):08x}"), f"tree-{len(self.events)}", label, accepted)
        turn = 0 if accepted or self.lane.turn is None else self.lane.turn.effect.turn
        save = fx.Save(
            EffectId(name),
            label=label,
            message=label,
            parent=self.lane.head,
            accepted=accepted,
            turn=turn,
            lane=self.lane.name,
        )
        return self.perform(save, saved)

    def measure(self, measured: Measurement, *, name: str = "") -> Story:
        """A measurement of the present pass, or one of its own name."""
        base = self.state.prepared.base if self.state.prepared else Commit("")
        effect = fx.Measure(
            EffectId(f"measure/{name or self.state.turns}"),
            kind="baseline" if name == "baseline" else "gates",
            candidate=Commit(measured.candidate),
            base=base,
            accepted=base,
            lane=self.lane.name,
        )
        return self.perform(effect, out.Measured(measured))

    def judge(
        self,
        *,
        held: bool = False,
        signal: bool = False,
        said: Verdict | None = None,
        missing: Iterable[str] = (),
        values: dict[str, Scalar] | None = None,
        breaker: Breaker = CLOSED,
        error: str = "",
        **changes: Any,
    ) -> Story:
        """The verdict on the present pass."""
        stage, iteration = self.lane.stage, self.lane.loop.iteration + 1
        seen = Observation(
            iteration=iteration,
            batch=(stage,),
            passed=(stage,) if held else (),
            failed={} if held else {stage: signature(error)},
            fine=None if held else error or None,
            summary=error,
            gate_held=held,
        )
        fact = ev.Judged(
            stage=stage,
            iteration=iteration,
            turn=self.state.turns,
            gate_1=GateVerdict(held, "the stage's condition", tuple(missing), values or {}),
            gate_2=signal,
            observation=seen,
            verdict=said or verdict(),
            breaker=breaker,
            can_exit=held and signal,
            false_claim=signal and not held,
            lane=self.lane.name,
            **changes,
        )
        return self.add(fact)

    def iterate(
        self,
        measured: Measurement | None = None,
        *,
        claim: Claim | None = None,
        failing: tuple[str, ...] = (),
        **judged: Any,
    ) -> Story:
        """One whole iteration: turn, measurement, verdict."""
        self.turn(claim)
        candidate = self.state.checkpoints[-1].commit
        self.measure(measured or measurement(candidate, failing=failing))
        return self.judge(**judged)

    def leave(self, to: str, *, reason: str = BOTH_GATES, forced: bool = False) -> Story:
        """Into another stage, with an accepted checkpoint unless forced."""
        previous = self.state.main.stage
        if not forced and previous != "QA":
            self.save(previous, name=f"accept/{self.state.iterations}", accepted=True)
        return self.add(ev.Moved(to, previous, reason, forced=forced))

    def restore(self, commit: Commit) -> Story:
        """Back to a checkpoint."""
        name = EffectId(f"restore/{self.state.main.restores + 1}")
        restored = out.Restored(commit, "tree-back", Commit("undone00"))
        return self.perform(fx.Restore(name, commit, "regressing"), restored)

    def ask(self, question: fx.Question, lane: str = "") -> Story:
        """A question of a lane, or of the one the story is in, left open."""
        asking = self.state.lanes[lane] if lane else self.lane
        key = asking.effect_id(f"ask/{asking.asks + 1}")
        return self.add(ev.Begun(fx.Ask(key, question, lane=asking.name)))

    def open_lanes(self, *names: str) -> Story:
        """A lane for each of these subtasks, from the task's own head."""
        return self.add(*(LaneOpened(name, self.state.main.stage, self.state.main.head, name) for name in names))

    def ship(self) -> Story:
        """The branch written and the task done."""
        self.save("report", name="save/report", accepted=True)
        done = out.Delivered(self.state.main.head, f"flyball/{self.state.task.id}")
        self.perform(fx.Deliver(EffectId("deliver/1"), commit=self.state.main.head), done)
        return self.add(ev.TaskStopped("done", f"gates passed; the work is on branch {done.branch}"))


def two_lanes_asking(question: fx.Question) -> Story:
    """The lanes of the subtasks 2.1 and 2.2 have both asked this, and nobody has answered."""
    return Story().start().open_lanes("2.1", "2.2").ask(question, "2.1").ask(question, "2.2")


def short_tdd_run(task: Task | None = None) -> Story:
    """A whole run: RED, GREEN with one false claim, REFACTOR, DOCUMENT, QA, SHIP, done."""
    done = Claim(status="complete", exit_signal=True, summary="it is done", source="report-file")
    story = Story(task).start(notes=("submodule vendor/x is not part of checkpoints",))
    covered: dict[str, Scalar] = {"criteria_count": 2, "criteria_covered": 2}
    story.iterate(claim=done, held=True, signal=True, values=covered, progress=True).leave("GREEN")
    story.iterate(
        claim=done,
        failing=("tests/test_rows.py::test_empty",),
        signal=True,
        missing=("fails: tests/test_rows.py::test_empty",),
        error="TypeError in parse_row",
        disagreements=("tests_passing: reported 12, measured 11",),
    )
    for stage, following in (("GREEN", "REFACTOR"), ("REFACTOR", "DOCUMENT"), ("DOCUMENT", "QA")):
        assert story.state.main.stage == stage
        story.iterate(claim=done, held=True, signal=True, progress=True).leave(following)
    story.turn(Claim(verdict="pass", exit_signal=True, source="fenced-block"))
    approved: dict[str, Scalar] = {"checks_passing": 1, "blocking_issues": 0, "verdict": "APPROVE"}
    checks = (
        Check("tests_pass", "pass", blocking=True),
        Check("duplication", "fail", blocking=False, detail="7 %"),
        Check("changelog", "n/a", blocking=True, detail="off in the settings"),
    )
    story.measure(measurement(story.state.main.head, checks=checks))
    return story.judge(held=True, signal=True, values=approved).leave("SHIP").ship()


def a_state(task: Task, at: datetime, stage: str, **known: Any) -> State:
    """A task in one stage of its main lane; what else is known goes to whatever it belongs to: task, lane or loop."""
    loop = {name: known.pop(name) for name in Loop.__struct_fields__ if name in known}
    lane = {name: known.pop(name) for name in Lane.__struct_fields__ if name in known}
    lane.setdefault("visits", (Visit(stage, at),))
    return State(task, at, {MAIN: Lane(MAIN, stage, loop=Loop(**loop), **lane)}, **known)


def with_changes(known: State, **changes: Any) -> State:
    """The same state with some of it otherwise, wherever that belongs: in the task, its main lane or the lane's loop."""
    following = known.copy()
    for name, value in changes.items():
        owner = next(each for each in (following, following.main, following.main.loop) if hasattr(each, name))
        setattr(owner, name, value)
    return following
