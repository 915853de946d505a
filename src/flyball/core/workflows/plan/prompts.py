"""The prompts of the `plan` workflow; `flyball.core.loop.prompts.VERSION` changes when a sentence of them does."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from flyball.core.loop import prompts
from flyball.core.loop.batches import choosing
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role, role_named
from flyball.core.model.batches import Rework
from flyball.core.model.state import Lane, State
from flyball.core.model.task import MAIN, Item
from flyball.core.workflows.plan import grammar
from flyball.core.workflows.plan.record import record_of

PLANNER, PLAN_REVIEWER = "planner", "plan-reviewer"
SCAFFOLDER, IMPLEMENTER, FIXER, REVIEWER = "scaffolder", "implementer", "fixer", "reviewer"
GOAL_SHOWN = 600
DETAIL_SHOWN = 6_000

_FORM = "- [ ] **1.2** name — Files: `path`, `folder/` | Acceptance: what can be checked | `depends_on: 1.1` | `scaffold: true`"

_FINAL = (
    "Review the whole goal as the last reader before it is delivered; every subtask was accepted. Take the request sentence by sentence and find the lines and the test that do it; "
    "nobody's report is evidence. Does the whole work together, were the decisions kept, is it wrong for an input that you can name? Report `verdict` `pass`, or `fail` with "
    "`rejected` for subtasks to be done again, and `findings` for what no subtask covers: those that block become subtasks."
)

_UNNOTICED = "Add tests that fail without your change: product code that no test notices is not accepted."

CARDS = (
    Role(
        PLANNER,
        "Cuts a request into subtasks with files, acceptance and dependencies.",
        LOOKING,
        "Plan what is asked for below; change no product code. Read the repository first. Cut the work into subtasks that one agent finishes and checks in less than an hour. "
        "Every requirement of the request belongs to a subtask, and no subtask does what nobody asked for. Those that touch different files run at the same time, so keep "
        "dependencies few and files apart. Give each an id, its files, an acceptance that a test or command can decide, and the subtasks it needs. Mark with `scaffold: true` what "
        "all others build on, if anything. No\n"
        ""
        f'place-holders, no "and so on". One line for each subtask, in this form:\n{_FORM}\n'
        "Keep ticked subtasks as they are. Report the whole plan as markdown in `plan`, with `status` `complete`. Ask only what changes the plan and nobody can find out: `status` "
        "`needs_clarification` and `questions`, each with the `default` you would take.",
        form="planning",
    ),
    Role(
        PLAN_REVIEWER,
        "Reviews a plan before work begins. Changes no file.",
        CHECKING,
        "Judge the plan below against the request; no work has begun. Go through the request sentence by sentence: which subtask does it? Then through the subtasks: who asked for it, "
        "can a test or command decide its acceptance, is it done in less than an hour, are the files it names there or clearly new, does it depend on all it needs? Would two that run "
        "at the same time change the same file? Does it build what is there already, or contradict an earlier decision? Report `verdict` `fail` if a finding blocks, else `warn` or "
        "`pass`.",
        reviews=True,
        form="plan-review",
    ),
    Role(
        SCAFFOLDER,
        "Writes the structure that later subtasks build on.",
        WORKING,
        "Do the scaffold subtask below: the structure, interfaces and names that the later subtasks of the plan build on, and no more than they need. It must build, and its tests "
        f"must pass. Read the later subtasks first: each must find the names it will call. What is not there yet is absent or raises; it never pretends. {_UNNOTICED} That holds "
        "for what raises, too. Report every name that others will use in `decisions`.",
    ),
    Role(
        IMPLEMENTER,
        "Does one subtask of a plan, with tests, all of it and nothing besides.",
        WORKING,
        f"Do the subtask below: all of it, and nothing of the others. {prompts.NARROW}\n"
        f"{_UNNOTICED}\n"
        f"{prompts.PROTECTED}\n"
        "Others work beside you: keep to your files, and say in `summary` where you could not. Report choices that bind them in `decisions`. If it "
        "needs another subtask first, report `status` `blocked`, with its id in a `dependency` of `blockers`.",
    ),
    Role(
        FIXER,
        "Mends a subtask that was sent back, and nothing else.",
        WORKING,
        "The work on the subtask below was sent back, for the reasons that stand with it. For each reason: see it happen first (run the test, the input, the merge), find the "
        "cause, mend it there, and see that it is gone. Change nothing else. If a reason is mistaken, do not bend the code to please it: say so in `summary`, with what proves it. "
        "Where another subtask changed the same lines meanwhile, keep what both are for. Accepted tests are protected: you may add tests, not weaken them.",
    ),
    Role(
        REVIEWER,
        "Reviews the integrated work of a batch, subtask by subtask. Changes no file.",
        CHECKING,
        "Review the integrated work of a batch. Judge each subtask below by itself: find the lines that meet its acceptance; can its tests fail; does it fit the others and the "
        "decisions? None is rejected for the fault of another: say which one is at fault. Work that was accepted before and that this batch broke may be rejected, too, with what "
        "broke it. Every subtask below stands by its exact id in `approved` or in `rejected`, there with the reason. Report `verdict` `pass` if all are approved, else `fail`.",
        reviews=True,
        form="batch",
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    final = role == REVIEWER and lane.name == MAIN and lane.stage == "FINAL_REVIEW"
    context = tuple(_CONTEXTS[role](state, lane)) if role in _CONTEXTS else (prompts.request(state),)
    text = _FINAL if final else ""
    return prompts.compose(state, lane, role_named(role, CARDS), purpose, context=context, text=text)


def _planning(state: State, _lane: Lane) -> Iterator[str]:
    known = record_of(state)
    yield prompts.request(state)
    yield _answers(state, "Your questions, and the answers")
    if state.items and known.drafts:
        yield _plan("The plan so far; keep what is ticked", state.items)
    yield prompts.listed("What is wrong with your last plan, by its lines", known.problems)
    yield prompts.listed(
        "What the review of the plan found", tuple(f"{f.severity}: {f.message}" for f in known.findings)
    )
    yield prompts.listed("Why the plan is revised", known.replan)


def _reviewing_plan(state: State, _lane: Lane) -> Iterator[str]:
    yield prompts.request(state)
    yield _answers(state)
    yield _plan("The plan", state.items)


def _working(state: State, lane: Lane) -> Iterator[str]:
    # Somebody may ask for the prompt of the task's own lane: then it is about the first subtask that is open.
    first = next(iter(choosing.open_subtasks(state)), None)
    item = choosing.find(state.items, lane.item) if lane.item else first
    if item is None:
        yield prompts.request(state)
        return
    yield _goal(state)
    yield _subtask(item)
    yield _answers(state)
    lanes = (other for other in choosing.subtask_lanes(state) if other.name != lane.name)
    others = (choosing.find(state.items, other.item) for other in lanes)
    beside = tuple(f"{each.id}: {each.text} ({', '.join(each.files) or 'no file named'})" for each in others)
    yield prompts.listed("Worked on at the same time; leave these to others", beside)
    rework = state.batches.rework.get(item.id)
    if rework is not None:
        yield from _sent_back(rework, goes_on=lane.head != lane.base)


def _reviewing(state: State, lane: Lane) -> Iterator[str]:
    if lane.name != MAIN:
        yield from _working(state, lane)
        return
    batch = state.batches.current
    if lane.stage == "FINAL_REVIEW" or batch is None:
        yield prompts.request(state)
        yield _plan("The plan, with what was accepted", state.items)
        return
    yield _goal(state)
    for result in batch.taken:
        yield _subtask(choosing.find(state.items, result.item))
    outside = tuple(f"{each.item}: {', '.join(each.outside)}" for each in batch.taken if each.outside)
    yield prompts.listed("Changed beside the files a subtask had named", outside)
    if state.batches.unclear:
        yield f"## Your last review was not clear\n{state.batches.unclear}. Review again, and name each subtask by its exact id."
    reviewed = {result.item for result in batch.taken}
    yield _plan("The rest of the plan", tuple(item for item in state.items if item.id not in reviewed))


_CONTEXTS = {
    PLANNER: _planning,
    PLAN_REVIEWER: _reviewing_plan,
    SCAFFOLDER: _working,
    IMPLEMENTER: _working,
    FIXER: _working,
    REVIEWER: _reviewing,
}


def _goal(state: State) -> str:
    return f"## Goal of the whole task\n{prompts.data(state.task.request[:GOAL_SHOWN])}"


def _answers(state: State, title: str = "Answers to questions") -> str:
    return prompts.listed(title, tuple(f"{asked} {said}" for asked, said in record_of(state).answers))


def _subtask(item: Item) -> str:
    files = ", ".join(f"`{file}`" for file in item.files) or "not said"
    lines = [f"## Subtask {item.id}: {item.text}", f"Files: {files}"]
    lines += [f"Needs: {', '.join(item.depends_on)}"] if item.depends_on else []
    acceptance = _own_acceptance(item)
    lines += ["Acceptance:", *(f"- {point}" for point in acceptance)] if acceptance else []
    return "\n".join(lines)


def _own_acceptance(item: Item) -> tuple[str, ...]:
    """What the acceptance says beside the subtask's own text, which it repeats where nobody stated one."""
    return tuple(point for point in item.acceptance if point != item.text)


def _plan(title: str, items: tuple[Item, ...]) -> str:
    if not items:
        return ""
    return f"## {title}\n{grammar.render([replace(item, acceptance=_own_acceptance(item)) for item in items])}"


def _sent_back(rework: Rework, *, goes_on: bool) -> Iterator[str]:
    told = {
        "review": "The review sent it back",
        "conflict": "It could not be integrated: another subtask changed the same lines",
        "gates": "Integrated with the others' work, the gates failed",
        "failed": "The last attempt at it was given up",
        "undone": "It was accepted or finished and then undone",
    }
    detail = rework.detail.splitlines()
    yield prompts.listed(told[rework.why], tuple(each for each in rework.reasons if each not in detail))
    if rework.detail:
        yield prompts.data(rework.detail[:DETAIL_SHOWN])
    kept = "Your earlier work is in this tree, brought onto what was accepted since."
    fresh = "This tree is what was accepted so far, without your earlier work."
    yield kept if goes_on else fresh
