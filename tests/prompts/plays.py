"""Tasks of every workflow, played until each role was in each of its situations; the prompts they got are in `golden/`.

`tools/record-prompts` writes those files anew.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import cast

import msgspec
from msgspec.structs import replace
from tests.support.backlog_in_memory import BacklogInMemory
from tests.support.simulator import APPROVED, START, Obliging, Simulator, ok
from tests.support.track_in_memory import PAGE, TrackInMemory, failing as failing_track

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim, DesignDecision, OpenQuestion, ProtectedChange, Rejection
from flyball.core.evaluation.catalogue import BUILT_IN
from flyball.core.evaluation.choosing import Chosen
from flyball.core.model.effects import Integrate, Measure, Recall, RunAgent
from flyball.core.model.events import Begun, Fact
from flyball.core.model.measurement import GateResult, Measurement, NewTest, Quality, Remark, Trick
from flyball.core.model.outcomes import (
    ChangedFile,
    ChangedLines,
    Conflicted,
    Integrated,
    NothingToIntegrate,
    Recalled,
    TurnEnded,
)
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, Gate, Item, Settings, Source, Task, TaskId
from flyball.core.workflows.backlog.values import Issue
from flyball.core.workflows.registry import WORKFLOWS

GOLDEN = Path(__file__).parent / "golden"
TEST = "tests/test_prices.py"
OUTPUT = """F
=================================== FAILURES ===================================
{name}

    def {name}():
>       with pytest.raises(ValueError):
E       Failed: DID NOT RAISE <class 'ValueError'>

tests/test_prices.py:14: Failed
prices.py:7: in /home/ada/.local/state/flyball/prices-1f0c/gates/7/tree/prices.py
- generated xml file: /tmp/flyball-gate-1f0c/junit.xml -
=========================== short test summary info ============================
{summary}
"""
FAILS = (
    "tests/test_prices.py::test_ac_2_a_negative_price_is_refused",
    "tests/test_prices.py::test_ac_1_cents",
    "tests/test_prices.py::test_ac_1_nothing",
)
CRITERIA = (
    Item("AC-1", "`price(1250)` is the text `12.50 EUR`"),
    Item("AC-2", "a negative price is refused with a ValueError"),
)
DOCUMENT = """# Prices that can be read

Customers see cents. They should see euros.

## Acceptance criteria

- [ ] `price(1250)` is the text `12.50 EUR`
- [ ] a negative price is refused with a ValueError
"""
WORK = Claim(status="complete", exit_signal=True, summary="prices are printed in euros", source="report-file")
GOES_ON = Claim(status="in_progress", summary="AC-1 is there", source="report-file")
SILENT = Claim(summary="prices.py is written", source="report-file")
PROTECTED = replace(WORK, protected_changes=(ProtectedChange(TEST, "AC-2 names a ValueError, the test a TypeError"),))
REFUSED = replace(APPROVED, verdict="fail", exit_signal=False)
REJECTED = Claim(
    verdict="fail",
    findings=(
        Finding("major", "price(-1) returns '-0.01 EUR' instead of refusing it", "prices.py", 7),
        Finding("suggestion", "the currency could be a constant", "prices.py", 3),
    ),
    source="report-file",
)
CRASHED = TurnEnded("crashed", detail="exit 137")
CUT_OFF = TurnEnded("interrupted", detail="the controller was stopped")
FULL = TurnEnded("context_full", detail="the conversation is full")
WEAKENED = Trick("test-weakened", TEST, "1 of 2 assertions gone")
PLANNED = Claim(
    status="complete",
    plan="## Criteria\n\n### Acceptance Criteria\n- [ ] `price(1250)` is the text `12.50 EUR`\n- [ ] a negative price is refused with a ValueError\n",
    source="report-file",
)
PLAN = Claim(
    status="complete",
    plan="- [ ] **1.1** lay out the package — Files: `prices/__init__.py` | Acceptance: `import prices` works | `scaffold: true`\n"
    "- [ ] **2.1** print prices — Files: `prices/text.py` | Acceptance: `price(1250)` is `12.50 EUR` | `depends_on: 1.1`\n"
    "- [ ] **2.2** read prices — Files: `prices/reading.py` | Acceptance: `12.50 EUR` is read as 1250 | `depends_on: 1.1`\n",
    source="report-file",
)
DECIDED = replace(WORK, decisions=(DesignDecision("Cents", choice="prices are whole cents", context="floats round"),))
QUESTION = Claim(
    status="needs_clarification", questions=(OpenQuestion("Which currency?", (), "euro"),), source="report-file"
)
FAULTY_PLAN = Claim(
    verdict="fail", findings=(Finding("major", "no subtask tests how prices are read"),), source="report-file"
)
BATCH = Claim(
    verdict="fail",
    approved=("2.2",),
    rejected=(Rejection("2.1", "price(-1) is not refused, which the request names"),),
    source="report-file",
)
ISSUE = Issue(
    "BUG-001@aaaaaa",
    "a negative price is printed",
    file="high.md",
    created="2026-01-01",
    type="bug",
    acceptance=("price(-1) raises a ValueError",),
    body="`price(-1)` prints `-0.01 EUR`.\n\n- [ ] price(-1) raises a ValueError",
)
ENDINGS = (WORK, GOES_ON, SILENT, PROTECTED, DECIDED, CRASHED, CUT_OFF, FULL)
REVIEWS = (REJECTED, BATCH, REFUSED, CRASHED)
OWN_DIFF = "diff --git a/prices/__init__.py b/prices/__init__.py\n--- a/prices/__init__.py\n+++ b/prices/__init__.py\n@@ -1 +1 @@\n-EURO = ''\n+EURO = 'EUR'\n"
OTHER_DIFF = OWN_DIFF.replace("'EUR'", "'€'")
REMARK = Remark("prices.py", 7, "the branch for an empty text is reached by no test")


class Shop(Obliging):
    """Everybody does as asked, but for what `says` has a role answer in its nth turn and the trees of turns that fail or trick."""

    def __init__(
        self,
        says: Mapping[tuple[str, int], Claim | TurnEnded] | None = None,
        *,
        failing: Mapping[int, tuple[str, ...]] | None = None,
        tricks: Mapping[int, tuple[Trick, ...]] | None = None,
        over_limit: bool = False,
        conflict: bool = False,
        untested: int = 0,
    ) -> None:
        super().__init__()
        self.says = says or {}
        self.failing = failing or {}
        self.tricks = tricks or {}
        self.over_limit = over_limit
        self.conflict = conflict
        self.untested = untested
        self.measured: dict[str, tuple[str, ...]] = {}
        self.turns_of: Counter[str] = Counter()
        self.folder = BacklogInMemory(ISSUE)
        chosen = tuple(Chosen(card.name, ("word: form",)) for card in BUILT_IN)
        defect = failing_track("price(-1) is not refused", chosen)
        self.track = TrackInMemory("", defect, chosen=chosen, sync=True)

    def recall(self, effect: Recall, state: State) -> Recalled:
        changed = ChangedLines((ChangedFile("prices.py", 9, 2), ChangedFile("euro.png")), 2, 9, 2)
        return replace(super().recall(effect, state), changes=dict.fromkeys(effect.shown, changed))

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        self.turns_of[turn.role] += 1
        said = self.says.get((turn.role, self.turns_of[turn.role]))
        if isinstance(said, TurnEnded):
            if not turn.copy:
                self.trees[turn.lane] = f"tree-{turn.turn}"
            return said
        if turn.role in {"planner", "track-planner"}:
            plan = {"tdd": PLANNED, "plan": PLAN, "track": Claim(status="complete", plan=PAGE, source="report-file")}
            return ok(said or plan[state.task.workflow])
        ended = super().work(turn, state)
        return replace(ended, claim=said) if said else ended

    def look(self, measure: Measure, state: State) -> Measurement:
        found = self.examine(measure, state)
        self.measured[self.saved.get(measure.candidate, self.trees.get(measure.lane, self.tree))] = found.failing
        return found

    def examine(self, measure: Measure, state: State) -> Measurement:
        tree = self.saved.get(measure.candidate, self.trees.get(measure.lane, self.tree))
        turn = turn_of(tree)
        found = super().look(measure, state)
        if measure.kind == "red":
            names = {"AC-1": FAILS[1], "AC-2": FAILS[0]}
            tests = tuple(NewTest(names[ac], TEST, "failing", "assertion", criteria=(ac,)) for ac in names)
            gates = tuple(replace(gate, output=output_of(FAILS[:2])) for gate in found.gates)
            return replace(
                found, gates=gates, failing=FAILS[:2], new_tests=tests[turn <= self.untested :] if self.worked else ()
            )
        if self.over_limit and measure.kind == "green":
            found = replace(found, quality=Quality(over_limit=("prices.py:3 price: complexity 12 (limit 10)",)))
        if tricks := self.tricks.get(turn, ()):
            paths = tuple(trick.path for trick in tricks)
            if not set(measure.consented) >= set(paths):
                mended = "tree-0" if turn == 1 else f"tree-{turn}-mended"
                found = replace(found, tricks=tricks, green_runs=0, put_back=paths, mended=mended)
        if failing := self.failing.get(turn, ()):
            (gate,) = found.gates
            counts = replace(found.counts, passing=found.counts.total - len(failing), failing=len(failing))
            command = state.task.settings.gates[0].command
            gate = GateResult("test", command, passed=False, exit_code=1, counts=counts, output=output_of(failing))
            found = replace(found, gates=(gate,), counts=counts, failing=failing, green_runs=0)
        return replace(found, changed=("prices.py", TEST), remarks=(REMARK,))

    def integrate(self, effect: Integrate) -> Integrated | Conflicted | NothingToIntegrate:
        if self.conflict and effect.work == "2.2":
            self.conflict = False
            return Conflicted(("prices/__init__.py",), own_diff=OWN_DIFF, other_diff=OTHER_DIFF)
        return super().integrate(effect)


def output_of(failing: tuple[str, ...]) -> str:
    """What a runner prints where these tests fail."""
    summary = "\n".join(f"FAILED {test}" for test in failing)
    return OUTPUT.format(name=failing[0].rpartition("::")[2], summary=summary)


def turn_of(tree: str) -> int:
    """The turn whose work a tree holds last; 0 for the base."""
    return int(tree.rpartition("tree-")[2].partition("+")[0].partition("-")[0] or 0)


class Turn(msgspec.Struct, frozen=True):
    """A turn with what was known when its prompt was written, and the tree it began with, as the world has it.

    `failing` are the tests that failed when that tree was measured, None where it was not.
    """

    effect: RunAgent
    state: State
    tree: str
    failing: tuple[str, ...] | None
    commits: frozenset[str]


class Recorder(Simulator):
    """A simulator that keeps what was known before each turn."""

    def __init__(self, world: Shop, task: Task, stage: str) -> None:
        self.recorded: list[Turn] = []
        super().__init__(world, task, stage)

    def append(self, *facts: Fact) -> None:
        for fact in facts:
            if isinstance(fact, Begun) and isinstance(fact.effect, RunAgent):
                turn, shop = fact.effect, cast("Shop", self.world)
                tree = shop.saved.get(turn.commit, turn.commit) if turn.copy else shop.trees[turn.lane]
                commits = frozenset(name for name, kept in shop.saved.items() if kept == tree)
                self.recorded.append(Turn(turn, copy.deepcopy(self.known), tree, shop.measured.get(tree), commits))
            super().append(fact)


def a_shop_task(workflow: str) -> Task:
    reviewers = {card.name: AgentChoice("critic") for flow in WORKFLOWS.values() for card in flow.cards if card.reviews}
    settings = Settings(
        gates=(Gate("test", "pytest -q --junit-xml={junit}"),),
        roles={"default": AgentChoice("scripted"), **reviewers},
        lint="ruff check .",
    )
    request, name = "Print prices in euros.", TaskId("001-print-prices")
    if workflow == "track":
        return Task(name, workflow, request, settings, START, source=Source("conductor/tracks/form_20261117", ""))
    if workflow in {"plan", "backlog"}:
        return Task(name, workflow, request, settings, START)
    source = Source("docs/prices.md", "0" * 64)
    return Task(name, workflow, request, settings, START, document=DOCUMENT, source=source, items=CRITERIA)


def without_criteria(*, attended: bool) -> Task:
    task = a_shop_task("tdd")
    return replace(task, document="", source=None, items=(), settings=replace(task.settings, attended=attended))


def play(workflow: str, world: Shop, task: Task | None = None) -> tuple[Turn, ...]:
    recorder = Recorder(world, task or a_shop_task(workflow), WORKFLOWS[workflow].stages[0])
    recorder.run()
    return tuple(recorder.recorded)


PLAYS: dict[str, Callable[[], tuple[Turn, ...]]] = {
    "quick": lambda: play("quick", Shop({("reviewer", 1): REJECTED})),
    "quick with failing turns": lambda: play(
        "quick", Shop({("implementer", 1): GOES_ON}, failing={1: FAILS[:1], 2: FAILS[:1]})
    ),
    "quick rolled back": lambda: play("quick", Shop(failing={1: FAILS[:1], 2: FAILS[:2], 3: FAILS})),
    "quick crashed": lambda: play("quick", Shop({("implementer", 1): CRASHED})),
    "quick cut off": lambda: play("quick", Shop({("implementer", 1): CUT_OFF})),
    "quick in a full context": lambda: play("quick", Shop({("implementer", 1): FULL})),
    "quick with a trick": lambda: play("quick", Shop(tricks={1: (WEAKENED,)})),
    "quick with consent": lambda: play("quick", Shop({("implementer", 1): PROTECTED}, tricks={1: (WEAKENED,)})),
    "quick refused": lambda: play(
        "quick", Shop({("implementer", 1): PROTECTED, ("reviewer", 1): REFUSED}, tricks={1: (WEAKENED,)})
    ),
    "quick in silence": lambda: play("quick", Shop({("implementer", nth): SILENT for nth in (1, 2)})),
    "quick rolled back to a turn": lambda: play(
        "quick", Shop(failing={0: FAILS, 1: FAILS[:1], 2: FAILS[:2], 3: FAILS})
    ),
    "tdd": lambda: play("tdd", Shop({("qa", 1): REJECTED}, over_limit=True)),
    "tdd with a test too few": lambda: play("tdd", Shop(untested=1)),
    "tdd refactored": lambda: play("tdd", Shop(over_limit=True, failing={3: FAILS[:1]})),
    "tdd documented": lambda: play("tdd", Shop({("documenter", 1): GOES_ON})),
    "tdd rolled back": lambda: play("tdd", Shop(failing={2: FAILS[:1], 3: FAILS[:2], 4: FAILS})),
    "tdd without criteria": lambda: play("tdd", Shop(), without_criteria(attended=False)),
    "tdd planned": lambda: play("tdd", Shop(), without_criteria(attended=True)),
    "plan": lambda: play(
        "plan",
        Shop(
            {
                ("planner", 1): QUESTION,
                ("plan-reviewer", 1): FAULTY_PLAN,
                ("implementer", 1): DECIDED,
                ("reviewer", 2): BATCH,
            }
        ),
    ),
    "plan with a conflict": lambda: play("plan", Shop(conflict=True)),
    "plan with failing turns": lambda: play("plan", Shop(failing={3: FAILS[:1]})),
    "plan with later failing turns": lambda: play("plan", Shop(failing={5: FAILS[:1]})),
    "backlog": lambda: play("backlog", Shop({("code-reviewer", 1): REJECTED})),
    "backlog with failing turns": lambda: play("backlog", Shop({("implementer", 1): WORK}, failing={1: FAILS[:1]})),
    "track": lambda: play("track", Shop({("plan-evaluator", 1): FAULTY_PLAN})),
    "track with failing turns": lambda: play("track", Shop(failing={3: FAILS[:1]})),
}

SITUATIONS: dict[str, tuple[str, str, int]] = {
    "quick/implementer-first-turn": ("quick", "implementer", 1),
    "quick/implementer-second-turn": ("quick with failing turns", "implementer", 2),
    "quick/implementer-third-turn": ("quick with failing turns", "implementer", 3),
    "quick/implementer-rollback-to-start": ("quick rolled back", "implementer", 4),
    "quick/implementer-rollback-to-turn": ("quick rolled back to a turn", "implementer", 4),
    "quick/implementer-rejected": ("quick", "implementer", 2),
    "quick/implementer-crashed": ("quick crashed", "implementer", 2),
    "quick/implementer-resumed": ("quick cut off", "implementer", 2),
    "quick/implementer-fresh-context": ("quick in a full context", "implementer", 2),
    "quick/implementer-trick-put-back": ("quick with a trick", "implementer", 2),
    "quick/implementer-change-allowed": ("quick with consent", "implementer", 2),
    "quick/implementer-change-refused": ("quick refused", "implementer", 2),
    "quick/implementer-gates-hold": ("quick in silence", "implementer", 2),
    "quick/implementer-confirm": ("quick in silence", "implementer", 3),
    "quick/reviewer-first-turn": ("quick", "reviewer", 1),
    "quick/reviewer-second-turn": ("quick", "reviewer", 2),
    "quick/reviewer-consent": ("quick with consent", "reviewer", 1),
    "tdd/planner-first-turn": ("tdd planned", "planner", 1),
    "tdd/tester-first-turn": ("tdd", "tester", 1),
    "tdd/tester-without-criteria": ("tdd without criteria", "tester", 1),
    "tdd/tester-second-turn": ("tdd with a test too few", "tester", 2),
    "tdd/implementer-first-turn": ("tdd", "implementer", 1),
    "tdd/implementer-second-turn": ("tdd rolled back", "implementer", 2),
    "tdd/implementer-rollback": ("tdd rolled back", "implementer", 4),
    "tdd/implementer-rejected": ("tdd", "implementer", 2),
    "tdd/refactorer-first-turn": ("tdd", "refactorer", 1),
    "tdd/refactorer-second-turn": ("tdd refactored", "refactorer", 2),
    "tdd/documenter-first-turn": ("tdd", "documenter", 1),
    "tdd/documenter-second-turn": ("tdd documented", "documenter", 2),
    "tdd/qa-first-turn": ("tdd", "qa", 1),
    "tdd/qa-second-turn": ("tdd", "qa", 2),
    "plan/planner-first-turn": ("plan", "planner", 1),
    "plan/planner-answered": ("plan", "planner", 2),
    "plan/planner-rejected": ("plan", "planner", 3),
    "plan/plan-reviewer-first-turn": ("plan", "plan-reviewer", 1),
    "plan/plan-reviewer-second-turn": ("plan", "plan-reviewer", 2),
    "plan/scaffolder-first-turn": ("plan", "scaffolder", 1),
    "plan/scaffolder-second-turn": ("plan with failing turns", "scaffolder", 2),
    "plan/implementer-first-turn": ("plan", "implementer", 1),
    "plan/implementer-beside-another": ("plan", "implementer", 2),
    "plan/implementer-second-turn": ("plan with later failing turns", "implementer", 3),
    "plan/fixer-rejected": ("plan", "fixer", 1),
    "plan/fixer-conflict": ("plan with a conflict", "fixer", 1),
    "plan/reviewer-batch": ("plan", "reviewer", 2),
    "plan/reviewer-batch-again": ("plan", "reviewer", 3),
    "plan/reviewer-final": ("plan", "reviewer", 4),
    "backlog/implementer-first-turn": ("backlog", "implementer", 1),
    "backlog/implementer-second-turn": ("backlog with failing turns", "implementer", 2),
    "backlog/implementer-rejected": ("backlog", "implementer", 2),
    "backlog/code-reviewer-first-turn": ("backlog", "code-reviewer", 1),
    "backlog/code-reviewer-second-turn": ("backlog", "code-reviewer", 2),
    "backlog/security-auditor-first-turn": ("backlog", "security-auditor", 1),
    "backlog/performance-reviewer-first-turn": ("backlog", "performance-reviewer", 1),
    "backlog/spec-auditor-first-turn": ("backlog", "spec-auditor", 1),
    "track/track-planner-first-turn": ("track", "track-planner", 1),
    "track/track-planner-rejected": ("track", "track-planner", 2),
    "track/plan-evaluator-first-turn": ("track", "plan-evaluator", 1),
    "track/plan-evaluator-second-turn": ("track", "plan-evaluator", 2),
    "track/executor-first-turn": ("track", "executor", 1),
    "track/executor-second-turn": ("track with failing turns", "executor", 2),
    "track/eval-business-logic-first-turn": ("track", "eval-business-logic", 1),
    "track/eval-business-logic-second-turn": ("track", "eval-business-logic", 2),
    "track/eval-integration-first-turn": ("track", "eval-integration", 1),
    "track/eval-ui-ux-first-turn": ("track", "eval-ui-ux", 1),
    "track/track-fixer-first-turn": ("track", "track-fixer", 1),
    "track/business-writer-first-turn": ("track", "business-writer", 1),
}
"""Each golden file: the play, the role, and which of its turns."""


@functools.cache
def played(name: str) -> tuple[Turn, ...]:
    return PLAYS[name]()


def prompt_in(situation: str) -> str:
    name, role, number = SITUATIONS[situation]
    turns = [turn for turn in played(name) if turn.effect.role == role]
    return turns[number - 1].effect.prompt


def generated(workflow: str, seed: int) -> tuple[Turn, ...]:
    """A task in which turns crash, fail, trick and claim as it happens, and reviews reject."""
    random = Random(seed)
    flow = WORKFLOWS[workflow]
    says: dict[tuple[str, int], Claim | TurnEnded] = {}
    for card in flow.cards:
        choices = REVIEWS if card.reviews else ENDINGS if "edit" in card.abilities else ()
        says |= {(card.name, nth): random.choice(choices) for nth in range(1, 7) if choices and random.random() < 0.5}
    fails = {turn: names_of(turn, random.randint(1, 3)) for turn in range(1, 20) if random.random() < 0.4}
    tricks = {turn: (WEAKENED,) for turn in range(1, 20) if random.random() < 0.1}
    return play(workflow, Shop(says, failing=fails, tricks=tricks, over_limit=random.random() < 0.5))


def names_of(turn: int, count: int) -> tuple[str, ...]:
    """Tests that fail in the tree of one turn and in no other."""
    return tuple(f"{TEST}::test_{number}_of_turn_{turn}" for number in range(count))
