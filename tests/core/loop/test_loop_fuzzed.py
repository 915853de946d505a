"""Random worlds, people and accidents: the loop never sticks, never raises, always stops, and is DONE only when it was measured."""

import random
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec
import pytest
from tests.support.agreement import check_words
from tests.support.simulator import START, EveryFile, Simulator, World, a_task

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, ClaimedBlocker, DesignDecision, OpenQuestion, ProtectedChange
from flyball.core.decide import begin, decide
from flyball.core.fold.evolve import evolve, fold
from flyball.core.memory.recalling import recall
from flyball.core.model.effects import (
    Ask,
    CountDay,
    Effect,
    Measure,
    OpenPullRequest,
    Recall,
    Restore,
    RunAgent,
    Save,
    Wait,
)
from flyball.core.model.events import (
    Begun,
    Ended,
    Event,
    Fact,
    Judged,
    Moved,
    PersonSpoke,
    SessionStarted,
    SettingsChanged,
    Spoken,
    TaskOpened,
    TaskStopped,
    TurnSetAside,
)
from flyball.core.model.learnings import Learnings
from flyball.core.model.measurement import Check, Counts, Files, GateResult, Measurement, NewTest, Quality, Trick
from flyball.core.model.outcomes import (
    Answered,
    DayCounted,
    Delivered,
    Failed,
    Interrupted,
    Measured,
    Outcome,
    Prepared,
    PullRequested,
    Recalled,
    Restored,
    Saved,
    TurnEnded,
    TurnKind,
    Unanswered,
    Usage,
    Waited,
)
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, BreakerSettings, Commit, EffectId, Gate, Item, Limits, Settings
from flyball.core.vocabulary import fact_type
from flyball.core.workflows.tdd.workflow import ORDER
from flyball.engine.recovery import reconcile_open_effects

REPLAYED = 30
MOST_WORDS = 14
MOST_TURNS = 40
NEW = NewTest("tests/test_new.py::test_ac_1", "tests/test_new.py", "failing", "assertion", criteria=("AC-1", "AC-2"))
KINDS: tuple[TurnKind, ...] = (
    "denied", "question", "max_turns", "budget", "rate_limited", "usage_limit", "overloaded", "not_logged_in", "not_installed",
    "context_full", "timed_out", "killed", "crashed", "interrupted",
)  # fmt: skip
T = TypeVar("T", bound=msgspec.Struct)
_FACTS: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(fact_type())


def good(measure: Measure, tree: str) -> Measurement:
    """A measurement of which every condition of its stage is true."""
    red = measure.kind == "red"
    counts = Counts(total=6, passing=5 if red else 6, failing=int(red))
    gate = GateResult("test", "pytest", passed=not red, exit_code=int(red), counts=counts)
    return Measurement(
        measure.candidate,
        tree,
        (gate,),
        counts,
        tests_ref=f"ref-{tree}",
        failing=(NEW.id,) if red else (),
        new_tests=(NEW,) if red else (),
        green_runs=2 if measure.kind == "green" else 1,
        files=Files(documents=3, decision_records=1),
        quality=Quality(over_limit=("f",) if measure.kind == "green" and sum(tree.encode()) % 2 else ()),
        checks=(Check("tests_pass", "pass", True), Check("naming", "fail", False)) if measure.kind == "qa" else (),
    )


def flaws(measure: Measure) -> dict[str, dict[str, object]]:
    """Single things that must keep a stage from being left, as changes to a good measurement."""
    gate = GateResult("test", "pytest", passed=False, exit_code=1)
    trick = Trick("test-weakened", "tests/test_old.py", "an assertion is gone")
    found: dict[str, dict[str, object]] = {"trick": {"tricks": (trick,)}}
    if measure.kind == "red":
        found |= {
            "untested": {"new_tests": ()},
            "passing": {"new_tests": (NEW, replaced(NEW, id="t::b", outcome="passing", reason=""))},
            "wrong-reason": {"new_tests": (replaced(NEW, reason="error"),)},
            "old-broken": {"old_tests_broken": ("tests/test_old.py::test_a",)},
            "broken": {"gates": (replaced(gate, broken="timed out"),)},
        }
    if measure.kind in {"green", "refactor", "document"}:
        failing = Counts(total=6, passing=5, failing=1)
        found |= {
            "failing": {"failing": ("t::a",), "counts": failing, "gates": (replaced(gate, counts=failing),)},
            "missing": {"missing": ("t::gone",)},
            "skipped": {"newly_skipped": ("t::later",)},
            "none": {"counts": Counts(), "gates": (replaced(gate, passed=True, exit_code=0, counts=Counts()),)},
            "broken": {"gates": (replaced(gate, broken="timed out"),)},
            "exit-code": {"gates": (gate,)},
        }
    if measure.kind == "green":
        found |= {"once": {"green_runs": 1}, "flaky": {"flaky": ("t::a",)}}
        if measure.rejected:
            found["vacuous"] = {"passing_on_rejected": ("t::new",)}
    if measure.kind == "refactor" and measure.iteration < 5:
        found["long"] = {"quality": Quality(over_limit=("f",))}
    if measure.kind == "document":
        found |= {
            "few": {"files": Files(documents=2, decision_records=1)},
            "no-record": {"files": Files(documents=3)},
            "diagram": {"files": Files(3, 0, 0, 3, 1, 1, 0, ("d.md",))},
        }
    if measure.kind == "qa":
        found["check"] = {"checks": (Check("readme", "fail", True, "not mentioned"),)}
    return found


def replaced(value: T, **changes: object) -> T:
    return msgspec.structs.replace(value, **changes)


class Chance:
    """What happens in one random world; the odds themselves are drawn first, so that worlds differ in kind."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.odd_turns = self.dice.choice((0.0, 0.1, 0.3, 0.6))
        self.flawed = self.dice.choice((0.05, 0.3, 0.6, 0.95))
        self.silent = self.dice.choice((0.05, 0.3, 0.9))
        self.talk = self.dice.choice((0.0, 0.1, 0.4))
        self.accidents = self.dice.choice((0.0, 0.02, 0.1))
        self.words = self.dice.choice((0.0, 0.02, 0.1))
        self.attended = self.dice.random() < 0.5
        self.cooldown = self.dice.choice((None, None, None, 60.0))

    def happens(self, odds: float) -> bool:
        return self.dice.random() < odds

    def settings(self) -> Settings:
        return Settings(
            gates=(Gate("test", "pytest"),),
            roles={
                "default": AgentChoice("first", "m", self.dice.choice(((), ("second",)))),
                "qa": AgentChoice(self.dice.choice(("first", "second"))),
            },
            attended=self.attended,
            limits=Limits(
                calls_per_hour=self.dice.choice((3, 100)),
                max_turns=self.dice.choice((5, 20, 60)),
                max_iterations=self.dice.choice((None, 4, 30)),
                budget_usd=self.dice.choice((None, 1.0)),
                budget_tokens_per_day=self.dice.choice((None, 100)),
            ),
            breaker=BreakerSettings(cooldown_s=self.cooldown),
            pull_request=self.dice.random() < 0.2,
        )

    def claim(self, turn: RunAgent) -> Claim:
        extra: dict[str, object] = {}
        if self.happens(self.talk):
            default = self.dice.choice((None, "yes"))
            extra["questions"] = (OpenQuestion("Which one?", ("yes", "no"), default),)
        if self.happens(self.talk / 4):
            extra |= {"status": "blocked", "blockers": (ClaimedBlocker("external", "no key"),)}
        if self.happens(self.talk / 2):
            extra["protected_changes"] = (
                ProtectedChange(self.dice.choice(("tests/a.py", "tests/b.py")), "it is wrong"),
            )
        if self.happens(self.talk):
            extra["decisions"] = (DesignDecision("use a table", choice="a table", alternatives=("a tree",)),)
        if turn.role == "qa":
            extra["verdict"] = self.dice.choice(("pass", "pass", "pass", "fail", "warn", ""))
            if self.happens(0.2):
                extra["findings"] = (Finding(self.dice.choice(("critical", "major", "minor")), "it is slow"),)
        if turn.role == "planner" and self.happens(0.7):
            extra["plan"] = "### Acceptance Criteria\n- [ ] one\n- [ ] two\n"
        return Claim(exit_signal=not self.happens(self.silent), source="report-file", **extra)  # type: ignore[arg-type]


class Fuzz:
    """The driver's loop without threads, in a world of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = Chance(seed)
        self.now: datetime = START
        self.events: list[Event] = []
        self.state: State | None = None
        self.begun: set[tuple[str, int]] = set()
        self.tree, self.saved = "tree-0", {"base": "tree-0"}
        self.sound: dict[str, bool] = {}
        self.words = 0
        items = self.chance.dice.choice(((), (Item("AC-1", "it works"),), (Item("AC-1", "a"), Item("AC-2", "b"))))
        self.append(TaskOpened(a_task(settings=self.chance.settings(), items=items), "RED"))
        self.append(SessionStarted(1, "fuzzed", "0"))

    @property
    def known(self) -> State:
        assert self.state is not None
        return self.state

    def append(self, *facts: Fact) -> None:
        for fact in facts:
            if isinstance(fact, Begun):
                assert (fact.effect.id, fact.effect.attempt) not in self.begun, f"{fact.effect.id} was begun twice"
                self.begun.add((fact.effect.id, fact.effect.attempt))
            event = Event(len(self.events) + 1, self.now, 1, _FACTS.decode(msgspec.json.encode(fact)))
            self.events.append(event)
            self.state = evolve(self.state, event)

    def run(self) -> State:
        for _ in range(4000):
            self.maybe_a_word()
            if self.known.stopped is not None:
                self.end_all()
                if not self.taken_up():
                    return self.known
                continue
            following = decide(self.known)
            if following.facts:
                self.append(*following.facts)
                continue
            new = [e for e in following.effects if e.id not in self.known.open]
            for effect in new:
                self.append(begin(self.known, effect, self.now))
            if new and self.chance.happens(0.7):
                continue
            assert self.known.open, f"stuck in {self.known.main.stage}"
            self.go_on()
        raise AssertionError(f"did not stop; it is in {self.known.main.stage} after {self.known.turns} turns")

    def go_on(self) -> None:
        """Something under way ends, or everything is interrupted, or the controller is killed."""
        if self.chance.happens(self.chance.accidents / 2):
            self.append(SessionStarted(2, "fuzzed", "0"))
            self.append(*reconcile_open_effects(self.known))
        elif self.chance.happens(self.chance.accidents / 2):
            self.end_all()
            self.append(TaskStopped("interrupted", "SIGINT"))
        else:
            self.maybe_a_word()
            if self.known.open:
                key = self.chance.dice.choice(list(self.known.open))
                self.finish(key, self.outcome(self.known.open[key]))

    def finish(self, key: EffectId, outcome: Outcome) -> None:
        effect = self.known.open[key]
        waited = effect.until if isinstance(effect, Wait) else self.now
        self.now = max(self.now + timedelta(seconds=self.chance.dice.choice((1, 30))), waited)
        self.append(Ended(key, outcome, self.known.open[key].attempt))

    def end_all(self) -> None:
        for key, effect in list(self.known.open.items()):
            match effect:
                case Wait() | Ask():
                    continue
                case RunAgent():
                    self.edit()
                    self.finish(key, self.chance.dice.choice((TurnEnded("interrupted"), Interrupted("stopped"))))
                case Measure():
                    self.finish(key, Interrupted("broken off"))
                case _:
                    self.finish(key, self.outcome(effect, interrupted=True))

    def outcome(self, effect: Effect, *, interrupted: bool = False) -> Outcome:  # noqa: C901 - one short case for each effect
        if self.chance.happens(self.chance.accidents / 3) and not isinstance(effect, Wait):
            return Interrupted("disk full") if interrupted else Failed("disk full")
        match effect:
            case RunAgent():
                return self.turn(effect)
            case Measure():
                return Measured(self.measured(effect))
            case Save():
                return self.save(effect)
            case Restore():
                self.tree = self.saved[effect.to]
                return Restored(effect.to, self.tree)
            case Ask():
                return self.answer(effect)
            case Wait():
                return Waited()
            case OpenPullRequest():
                return PullRequested(detail="no gh")
            case CountDay():
                ends_at = self.now + timedelta(hours=self.chance.dice.choice((1, 9)))
                return DayCounted(ends_at).plus(Usage(self.chance.dice.choice((0, 20, 90)), usd=0.0))
            case Recall():
                return self.recalled(effect)
        return Prepared(Commit("base"), "tree-0", "b") if effect.id == "prepare" else Delivered(Commit("done"), "b")

    def recalled(self, effect: Recall) -> Recalled:
        own: dict[str, Learnings] = {self.known.task.id: self.known.learnings}
        return Recalled(problem="no luck") if self.chance.happens(0.1) else recall(effect, "001", own, EveryFile())

    def edit(self) -> None:
        if self.chance.happens(0.7):
            self.tree = f"tree-{self.chance.dice.randrange(12)}"

    def turn(self, effect: RunAgent) -> TurnEnded:
        if not effect.copy:
            self.edit()
        kind = self.chance.dice.choice(KINDS) if self.chance.happens(self.chance.odd_turns) else "ok"
        later = self.now + timedelta(seconds=self.chance.dice.choice((-30, 600)))
        reset_at = later if kind == "usage_limit" and self.chance.happens(0.6) else None
        return TurnEnded(
            kind, "said so", self.chance.claim(effect), Usage(10, 10, 0.05), reset_at=reset_at, session="s"
        )

    def measured(self, effect: Measure) -> Measurement:
        tree = self.saved[effect.candidate]
        found = good(effect, tree)
        flawed = effect.kind != "baseline" and self.chance.happens(self.chance.flawed)
        self.sound[effect.id] = not flawed
        if flawed:
            found = replaced(found, **self.chance.dice.choice(list(flaws(effect).values())))
        elif effect.kind == "baseline" and self.chance.happens(0.02):
            self.sound[effect.id] = False
            found = replaced(found, gates=(GateResult("test", "pytset", passed=False, broken="missing command"),))
        return found

    def save(self, effect: Save) -> Saved:
        if effect.accepted and effect.tree:
            self.tree = effect.tree
        commit = Commit(f"{effect.label}@{effect.id}#{len(self.events)}")
        self.saved[commit] = self.tree
        return Saved(commit, self.tree, effect.label, effect.accepted)

    def answer(self, effect: Ask) -> Outcome:
        if self.words >= MOST_WORDS or not self.chance.attended:
            default = effect.question.default
            return Unanswered() if default is None else Answered(default, "default")
        self.words += 1
        keys = [o.key for o in effect.question.options if o.key != "abort"] or ["something"]
        return Answered(self.chance.dice.choice(keys))

    def maybe_a_word(self) -> None:
        if not self.chance.happens(self.chance.words) or self.words >= MOST_WORDS:
            return
        self.words += 1
        words: tuple[Spoken, ...] = ("pause", "skip", "reset", "modify", "modify", "answer", "abort")
        word = self.chance.dice.choice(words)
        asked = next((k for k in self.known.questions), EffectId("ask/99"))
        opened = self.known.open.get(asked)
        if word == "answer" and opened is not None:
            self.append(Ended(asked, Answered("yes"), opened.attempt))
        if word != "abort" or self.chance.happens(0.1):
            self.append(PersonSpoke(word, "text" if word in {"modify", "answer"} else "", question=asked))

    def taken_up(self) -> bool:
        """Whether somebody goes on with the stopped task."""
        stopped = self.known.stopped
        assert stopped is not None
        if stopped.kind in {"done", "aborted"}:
            return False
        if stopped.kind in {"paused", "interrupted", "error"}:
            self.append(SessionStarted(3, "fuzzed", "0"))
            self.append(*reconcile_open_effects(self.known))
            return True
        if self.words >= MOST_WORDS:
            return False
        self.words += 1
        self.append(SessionStarted(4, "fuzzed", "0"))
        if stopped.kind == "limit":
            limits = replaced(self.known.task.settings.limits, max_turns=self.known.turns + 3, max_iterations=None)
            self.append(SettingsChanged(limits, attended=self.chance.happens(0.5)))
        elif stopped.kind == "blocked" and stopped.question and self.chance.happens(0.5):
            options = [o.key for o in self.known.questions[stopped.question].question.options if o.key != "abort"]
            answer = self.chance.dice.choice(options or ["this one"])
            self.append(PersonSpoke("answer", answer, question=stopped.question))
        elif stopped.kind == "blocked" and self.chance.happens(0.3):
            self.roll_back()
        elif stopped.kind == "blocked":
            self.append(PersonSpoke(self.chance.dice.choice(("reset", "modify", "skip", "resume")), "try this"))
        self.append(*reconcile_open_effects(self.known))
        return True

    def roll_back(self) -> None:
        """The facts `flyball rollback` leaves."""
        state = self.known
        target = self.chance.dice.choice(state.checkpoints) if state.checkpoints else None
        if target is None:
            return
        self.append(PersonSpoke("reset", "rolled back"))
        if state.main.at_work is not None:
            self.append(TurnSetAside(state.main.at_work.turn, "interrupted", "rolled back"))
        self.append(Moved(target.stage, state.main.stage, "rolled back by a person"))
        restore = Restore(
            EffectId(f"restore/{self.known.main.restores + 1}"), to=target.commit, reason="a person asked"
        )
        self.append(begin(self.known, restore, self.now))
        self.finish(restore.id, Restored(target.commit, target.tree))
        self.tree = target.tree


def check_done(fuzz: Fuzz) -> None:
    """Every stage of the way to DONE was left by force, or by a sound measurement with the signal of the same turn."""
    left: dict[str, int] = {}
    facts = [e.fact for e in fuzz.events]
    for place, fact in enumerate(facts):
        if isinstance(fact, Moved):
            if fact.reason.startswith("rolled back") or fact.rejected:
                left = {s: p for s, p in left.items() if ORDER.index(s) < ORDER.index(fact.stage) or fact.rejected}
            if not fact.reason.startswith("rolled back") and not fact.rejected:
                left[fact.previous] = place
    assert [s for s in ORDER[:-1] if s not in left] == []
    for stage, place in left.items():
        moved = facts[place]
        assert isinstance(moved, Moved)
        if not moved.forced:
            check_left(fuzz, facts, stage, place)


def check_left(fuzz: Fuzz, facts: list[Fact], stage: str, place: int) -> None:
    judged_at = max(p for p in range(place) if isinstance(facts[p], Judged))
    judged = facts[judged_at]
    assert isinstance(judged, Judged)
    measured_at = max(p for p in range(judged_at) if _ended(facts[p], Measured))
    measured = facts[measured_at]
    assert isinstance(measured, Ended)
    assert isinstance(measured.outcome, Measured)
    assert fuzz.sound[measured.id], f"{stage} was left on {measured.id}, which was not sound"
    if (judged.stage, stage) == ("GREEN", "REFACTOR"):
        assert measured.outcome.measurement.quality == Quality(), "only what is within the limits needs no turn"
        return
    assert judged.stage == stage
    turn = next(f for f in facts if isinstance(f, Ended) and f.id == f"turn/{judged.turn}")
    accepted = any(isinstance(f, PersonSpoke) and f.word == "accept" for f in facts[judged_at:place])
    assert isinstance(turn.outcome, TurnEnded)
    assert accepted or (turn.outcome.kind == "ok" and turn.outcome.claim.exit_signal)
    if stage == "QA":
        assert turn.outcome.claim.verdict in {"pass", "warn"}
        assert not any(f.severity in {"critical", "major"} for f in turn.outcome.claim.findings)
        return
    saved = next(f for f in facts[judged_at:place] if _ended(f, Saved))
    assert isinstance(saved, Ended)
    assert isinstance(saved.outcome, Saved)
    assert saved.outcome.accepted
    assert saved.outcome.tree == measured.outcome.measurement.tree, "what is kept is what was measured"


def _ended(fact: Fact, kind: type[Outcome]) -> bool:
    return isinstance(fact, Ended) and isinstance(fact.outcome, kind)


@pytest.mark.req("C4", "C5", "C40", "C61", "M22")
@pytest.mark.parametrize(
    "block", [pytest.param(block, marks=[pytest.mark.slow] if block >= 2 else []) for block in range(5)]
)
def test_in_a_random_world_the_loop_stops_and_is_done_only_when_it_was_measured(block: int) -> None:
    ends: set[str] = set()
    for seed in range(block * REPLAYED, (block + 1) * REPLAYED):
        fuzz = Fuzz(seed)
        try:
            state = fuzz.run()
            assert state.stopped is not None
            limit = state.task.settings.limits.max_turns
            assert limit is not None
            assert state.turns <= limit
            assert fold(fuzz.events) == state
            assert state.iterations == sum(isinstance(e.fact, Judged) for e in fuzz.events)
            check_words(fuzz.events)
            if state.stopped.kind == "done":
                check_done(fuzz)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        ends.add(state.stopped.kind)
    assert {"done", "blocked"} <= ends, "the worlds are varied enough to end both ways"


HABITS: dict[str, tuple[TurnKind, Claim]] = {
    "asks and takes its own default": (
        "ok",
        Claim(questions=(OpenQuestion("Which?", (), "this"),), source="report-file"),
    ),
    "says that it is blocked": ("ok", Claim(status="blocked", source="report-file")),
    "fills its context": ("context_full", Claim()),
    "runs into its time-out": ("timed_out", Claim()),
    "is denied": ("denied", Claim()),
    "spends its own turns": ("max_turns", Claim()),
    "signals although it timed out": ("timed_out", Claim(exit_signal=True, verdict="pass", source="report-file")),
    "approves and never signals": ("ok", Claim(verdict="pass", source="report-file")),
    "signals and never gives a verdict": ("ok", Claim(exit_signal=True, source="report-file")),
    "wants another protected file each time": ("ok", Claim(verdict="fail", source="report-file")),
}


@pytest.mark.parametrize("stage", ORDER[:-1])
@pytest.mark.parametrize("sound", [True, False], ids=["gate holds", "gate fails"])
@pytest.mark.parametrize("habit", HABITS)
def test_no_habit_of_an_agent_buys_turns_without_end(habit: str, stage: str, *, sound: bool) -> None:
    """Honest until `stage`, then for ever the same: nobody is there, and no limit is set."""
    kind, claim = HABITS[habit]

    def turn(effect: RunAgent, _state: State) -> TurnEnded:
        world.tree = f"tree-{effect.turn}"
        if effect.stage != stage:
            return TurnEnded("ok", claim=Claim(exit_signal=True, verdict="pass", source="report-file"))
        wanted = (ProtectedChange(f"tests/t{effect.turn}.py"),) if "protected" in habit else ()
        return TurnEnded(kind, claim=replaced(claim, protected_changes=wanted))

    def look(measure: Measure, state: State) -> Measurement:
        found = good(measure, world.tree)
        if measure.kind == "green":
            found = replaced(found, quality=Quality(over_limit=("f",)))
        return found if sound or state.main.stage != stage else replaced(found, **flaws(measure)["trick"])

    world = World(turn, look)
    task = a_task(settings=Settings(gates=(Gate("test", "t"),), roles={"default": AgentChoice("any")}))
    simulator = Simulator(world, task)
    state = simulator.run(1000)
    assert state.stopped is not None
    assert state.turns <= MOST_TURNS
    check_words(simulator.events)
    if stage == "QA" or not claim.exit_signal or not sound or kind != "ok":
        assert state.stopped.kind == "blocked"
