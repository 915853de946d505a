"""The prompts of the `track` workflow; `flyball.core.loop.prompts.VERSION` changes when a sentence of them does."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.evaluation.catalogue import BUILT_IN, long_name
from flyball.core.loop import prompts
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role, role_named
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

_JUDGE = "Judges what no tool can measure of a track: {name}. Changes no file."
_JUDGING = (
    "Judge the change of the track whose folder you are given against its spec.md: everything since the first commit that its plan.md names, as `git diff` shows it. What tools can "
    "measure is told by `flyball dispatch TRACK --measured-only`; judge the rest, one line for each point with the file and line that show it. A point that fails fails the review.\n"
)

CARDS = (
    Role(
        PLANNER,
        "Cuts a track's specification into tasks with files and acceptance.",
        LOOKING,
        "Plan the track below; change no product code. Read the repository first. Cut the specification into tasks that one agent finishes and checks in less than an hour. Every "
        "requirement belongs to a task, and no task does what nobody asked for. Tasks of different files with no dependency run at the same time. Group them under headings `## "
        "Phase N: title`, each task in this form:\n"
        f"{_FORM}\n"
        "Every task needs its id, an acceptance that a test or command can decide, and the files it changes. No place-holders. Keep ticked tasks as they are. Report the whole "
        "plan.md as markdown in `plan`, with `status` `complete`.",
        form="planning",
    ),
    Role(
        PLAN_EVALUATOR,
        "Evaluates a track's plan before work begins. Changes no file.",
        CHECKING,
        "Evaluate the plan below against the specification; no work has begun. Scope: which task does each sentence of it, and who asked for each task? Overlap: does it build what is "
        "there already? Order: can every task be done when it is its turn, and do two at the same time change one file? Quality: can a test or command decide each acceptance? Report "
        "`verdict` `fail` if a finding blocks, else `warn` or `pass`.",
        reviews=True,
        form="plan-review",
    ),
    Role(
        EXECUTOR,
        "Does one task of a track, with tests, all of it and nothing besides.",
        WORKING,
        f"Do the task below: all of it, and nothing of the others. {prompts.NARROW} Add tests that fail without your change: code that no test notices is not accepted. "
        f"{prompts.PROTECTED} Others work beside you: keep to your files, and say in `summary` where you could not. Write nothing below conductor/. "
        "If prices, models, tiers, pipelines or personas change, say so in `business_doc_sync`. Report choices that bind others in `decisions`.",
        form="executing",
    ),
    Role(
        FIXER,
        "Mends what the evaluators of a track found, and nothing else.",
        WORKING,
        "The evaluation of the track failed. For each point listed below: see it happen first, find the cause, mend it there, and see that it is gone. Change nothing else: no new "
        "features, no weakened test, no rule switched off. If a point is mistaken, do not bend the code to please it: say so in `summary`, with what proves it. Write nothing "
        "below conductor/. Say in `summary`, on one line, what you mended.",
    ),
    Role(
        WRITER,
        "Brings documents of the business up to date with what a track changed.",
        WORKING,
        "The track changed what documents of the business tell. Bring the documents listed below up to date, and nothing else. First product.md, business-strategy.md, "
        "tech-stack.md and the pricing data; then roadmap, guidelines, prompts and screen map; then skills. Never edit an archive. Prices, model names and tiers must be those of "
        "the code. Say in `summary`, on one line, what changed.",
        form="documents",
    ),
    *(
        Role(name, _JUDGE.format(name=name), CHECKING, _JUDGING + card.questions, reviews=True, form="evaluation")
        for name, card in zip(EVALUATORS, BUILT_IN, strict=True)
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    context = tuple(part for part in _CONTEXTS.get(role, _specification)(state, lane) if part)
    return prompts.compose(state, lane, role_named(role, CARDS), purpose, context=context)


def _specification(state: State, _lane: Lane) -> Iterator[str]:
    found = record_of(state).seen
    if found is None:
        yield prompts.request(state)
        return
    yield f"## Specification of the track {found.track}\n{prompts.data(found.spec[:SPEC_SHOWN])}"
    if found.product:
        yield f"## Product (product.md)\n{prompts.data(found.product[:GOAL_SHOWN])}"


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
    yield f"## Goal of the track\n{prompts.data(goal[:GOAL_SHOWN])}"
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
