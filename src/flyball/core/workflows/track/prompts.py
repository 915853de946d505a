"""The prompts of the `track` workflow; `flyball.core.loop.prompts.VERSION` changes when a sentence of them does."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.evaluation.catalogue import BUILT_IN, long_name
from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item
from flyball.core.workflows.track.record import record_of
from flyball.core.workflows.track.registers import matching_errors

PLANNER, PLAN_EVALUATOR = "track-planner", "plan-evaluator"
EXECUTOR, FIXER, WRITER = "executor", "track-fixer", "business-writer"
EVALUATORS = tuple(long_name(card.name) for card in BUILT_IN)
SPEC_SHOWN = 12_000
GOAL_SHOWN = 1_500

_FORM = (
    "- [ ] Task 1.2: what to do <!-- deps: 1.1 -->\n"
    "  - Type: code\n"
    "  - Acceptance: what can be checked\n"
    "  - Files: `path`, `folder/`"
)

ROLES = {
    PLANNER: (
        "Plan the track below; change no product code. Look at the repository first. Cut the specification into tasks that one\n"
        "agent finishes and checks in less than an hour; tasks of different files with no dependency are worked on at the same\n"
        "time. Group them under headings `## Phase N: title`, each task in this form:\n"
        f"{_FORM}\n"
        "Every task needs its id, an acceptance that can be checked and the files it changes. Report the whole plan.md as\n"
        "markdown in `plan`, with `status` `complete`."
    ),
    PLAN_EVALUATOR: (
        "Evaluate the plan below against the specification; no work has begun. Scope: does it do all that is specified and\n"
        "nothing else? Overlap: does it build what is there already? Dependencies and order: can every task be done when it is\n"
        "its turn? Task quality: can each acceptance be checked? Report `verdict` (`pass`, `warn` or `fail`) and `findings` with\n"
        "severity `critical`, `major`, `minor` or `suggestion`; the first two send the plan back."
    ),
    EXECUTOR: (
        "Do the task below, and nothing of the others, with the smallest change that meets its acceptance. Add tests that fail\n"
        "without it: product code that no test notices is not accepted. Keep to the files it names, and say in `summary` why where you cannot. Accepted tests are protected:\n"
        "you may add tests, not weaken them. Write nothing below conductor/: boxes and commits are written for you. If prices,\n"
        "models, tiers, pipelines or personas change, say so in `business_doc_sync`. Report choices that bind others in\n"
        "`decisions`. Set `exit_signal` to true when the acceptance is met."
    ),
    FIXER: (
        "The evaluation of the track failed. Mend every point listed below at its cause, and change nothing else: no new\n"
        "features, no weakened test, no rule switched off. Write nothing below conductor/. Say in `summary`, on one line, what\n"
        "you mended. Set `exit_signal` to true when no point is left."
    ),
    WRITER: (
        "The track changed what documents of the business tell. Bring the documents listed below up to date, and nothing else.\n"
        "First product.md, business-strategy.md, tech-stack.md and the pricing data; then roadmap, guidelines, prompts and screen\n"
        "map; then skills. Never edit an archive. Prices, model names and tiers must be those of the code. Say in `summary`, on\n"
        "one line, what changed. Set `exit_signal` to true when they are true."
    ),
}
_JUDGE = "Judges what no tool can measure of a track: {name}. Changes no file."

CARDS = (
    Role(PLANNER, "Cuts a track's specification into tasks with files and acceptance.", LOOKING, ROLES[PLANNER]),
    Role(
        PLAN_EVALUATOR,
        "Evaluates a track's plan before work begins. Changes no file.",
        CHECKING,
        ROLES[PLAN_EVALUATOR],
        reviews=True,
    ),
    Role(EXECUTOR, "Does one task of a track, with tests, in the smallest change.", WORKING, ROLES[EXECUTOR]),
    Role(FIXER, "Mends what the evaluators of a track found, and nothing else.", WORKING, ROLES[FIXER]),
    Role(WRITER, "Brings documents of the business up to date with what a track changed.", WORKING, ROLES[WRITER]),
    *(Role(name, _JUDGE.format(name=name), CHECKING, _JUDGE.format(name=name), reviews=True) for name in EVALUATORS),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    """The prompt a role of this workflow gets now."""
    return prompts.compose(
        state,
        lane,
        role,
        purpose,
        text=ROLES.get(role, ""),
        context=tuple(part for part in _CONTEXTS.get(role, _specification)(state, lane) if part),
        measured="" if role in {PLANNER, PLAN_EVALUATOR, *EVALUATORS} else prompts.measured_section(lane),
    )


def _specification(state: State, _lane: Lane) -> Iterator[str]:
    found = record_of(state).seen
    if found is None:
        yield prompts.request(state)
        return
    yield f"## Specification of the track {found.track}\n{found.spec.strip()[:SPEC_SHOWN]}"
    if found.product:
        yield f"## Product (product.md)\n{found.product.strip()[:GOAL_SHOWN]}"


def _planning(state: State, lane: Lane) -> Iterator[str]:
    known = record_of(state)
    yield from _specification(state, lane)
    if known.version and known.seen is not None:
        yield f"## The plan so far\n{known.seen.plan.strip()}"
    yield prompts.listed("What is wrong with your last plan, by its lines", known.problems)
    yield prompts.listed(
        "What the evaluation of the plan found", tuple(f"{f.severity}: {f.message}" for f in known.findings)
    )


def _evaluating_plan(state: State, lane: Lane) -> Iterator[str]:
    yield from _specification(state, lane)
    found = record_of(state).seen
    yield f"## The plan\n{(found.plan if found else '').strip()}"


def _executing(state: State, lane: Lane) -> Iterator[str]:
    item = next((item for item in state.items if item.id == lane.item), None)
    found = record_of(state).seen
    goal = found.spec if found else state.task.request
    yield f"## Goal of the track\n{goal.strip()[:GOAL_SHOWN]}"
    if item is not None:
        yield _task(item)
    beside = [other for other in state.lanes.values() if other.name not in {MAIN, lane.name}]
    others = tuple(f"{i.id}: {i.text}" for i in state.items if any(each.item == i.id for each in beside))
    yield prompts.listed("Worked on at the same time; leave these to others", others)


def _fixing(state: State, _lane: Lane) -> Iterator[str]:
    known = record_of(state)
    actions = known.evaluation.fix_actions if known.evaluation else ()
    yield prompts.listed("To mend", tuple(f"{a.evaluator}, {a.check}: {a.text}" for a in actions[:60]))
    entries = known.seen.known_errors if known.seen else ()
    told = dict.fromkeys(
        f"{e.get('problem', '')}: {e.get('solution', '')}" for a in actions for e in matching_errors(entries, a.text)
    )
    yield prompts.listed("Met before, and how it was mended then", tuple(told)[:6])


def _syncing(state: State, lane: Lane) -> Iterator[str]:
    known = record_of(state)
    sync = known.evaluation.business_sync if known.evaluation else None
    yield from _specification(state, lane)
    if sync is not None:
        there = known.seen.documents if known.seen else ()
        named: list[str] = []
        for document in sync.documents:
            paths = [path for path in there if path.rpartition("/")[2] == document]
            named.append(f"{document} ({', '.join(paths)})" if paths else document)
        yield prompts.listed("Documents to bring up to date", tuple(named))
        yield prompts.listed("Because of", sync.reasons)


def _task(item: Item) -> str:
    files = ", ".join(f"`{file}`" for file in item.files) or "not said"
    lines = [f"## Task {item.id}: {item.text}", f"Files: {files}"]
    lines += ["Acceptance:", *(f"- {point}" for point in item.acceptance)] if item.acceptance else []
    return "\n".join(lines)


_CONTEXTS = {
    PLANNER: _planning,
    PLAN_EVALUATOR: _evaluating_plan,
    EXECUTOR: _executing,
    FIXER: _fixing,
    WRITER: _syncing,
}
