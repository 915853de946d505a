"""The prompts of the `plan` workflow; `flyball.core.loop.prompts.VERSION` changes when a sentence of them does."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.loop import prompts
from flyball.core.loop.batches import choosing
from flyball.core.loop.role import CHECKING, LOOKING, WORKING, Role
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

ROLES = {
    PLANNER: (
        "Plan what is asked for below; change no product code. Look at the repository first. Cut the work into subtasks that one\n"
        "agent finishes and checks in less than an hour, with as few dependencies as possible: those that touch different files\n"
        "are worked on at the same time. Give each an id, the files it changes, an acceptance that can be checked, and the\n"
        "subtasks it needs. Mark with `scaffold: true` what all others build on; leave it out where nothing is needed.\n"
        f"One line for each subtask, in this form:\n{_FORM}\n"
        "Report the whole plan as markdown in `plan`, with `status` `complete`. Ask only what changes the plan and nobody can\n"
        "find out: `status` `needs_clarification` and `questions`, each with the `default` you would take."
    ),
    PLAN_REVIEWER: (
        "Review the plan below against what is asked for; no work has begun. Look for what is missing, subtasks that cannot be\n"
        "checked or are too large, wrong or missing dependencies, files two subtasks would both change, and contradictions to\n"
        "earlier decisions (critical). Report `verdict` (`pass`, `warn` or `fail`) and `findings` with severity `critical`,\n"
        "`major`, `minor` or `suggestion`; the first two send the plan back."
    ),
    SCAFFOLDER: (
        "Do the scaffold subtask below: the structure, interfaces and names that later subtasks build on, as small as they need\n"
        "it. It must build and its tests must pass. Leave no behaviour half done: what is not there yet raises or is absent. Add a\n"
        "test that fails without it, for what raises, too: product code that no test notices is not accepted.\n"
        "Set `exit_signal` to true when its acceptance is met."
    ),
    IMPLEMENTER: (
        "Do the subtask below, and nothing of the others, with the smallest change that meets its acceptance. Add tests that\n"
        "fail without it: product code that no test notices is not accepted. Others work on other subtasks at the same time: keep to the files it names, and say in `summary`\n"
        "why where you cannot. Accepted tests and test configuration are protected: you may add tests, not weaken them; if one\n"
        "is wrong, say so in `protected_changes`. Report choices that bind others in `decisions`. If it needs another subtask\n"
        "first, report `status` `blocked` with a blocker of type `dependency` that names its id. Set `exit_signal` to true when\n"
        "its acceptance is met."
    ),
    FIXER: (
        "The work on the subtask below was sent back; the reasons stand below it. See to each of them, and change nothing\n"
        "else. Where another subtask changed the same lines meanwhile, keep what both are for. Accepted tests are protected:\n"
        "you may add tests, not weaken them. Set `exit_signal` to true when the reasons no longer hold and the acceptance is met."
    ),
    REVIEWER: (
        "Review the work as it stands in this copy; your edits are discarded. You may run anything. Judge each subtask below by\n"
        "itself: is its acceptance met, can its tests fail, does it fit the others? Name each subtask by its exact id, in\n"
        "`approved` or in `rejected` (with `id` and `reason`). Report `verdict` (`pass` if all are approved, else `fail`), and\n"
        "`findings` with severity `critical`, `major`, `minor` or `suggestion` and their `file`; the first two block. An accepted\n"
        "subtask that this work broke may be rejected, too."
    ),
}

_FINAL = (
    "Review the whole goal below; every subtask was accepted, and this tree was measured. This copy is what would be\n"
    "delivered; your edits are discarded. Is everything there that was asked for, does it work together, were the decisions kept?\n"
    "Report `verdict` `pass`, or `fail` with `rejected` (`id` and `reason`) for subtasks to be done again and `findings` (severity,\n"
    "`message`, `file`) for what no subtask covers: those of severity `critical` and `major` become subtasks."
)

CARDS = (
    Role(PLANNER, "Cuts a request into subtasks with files, acceptance and dependencies.", LOOKING, ROLES[PLANNER]),
    Role(
        PLAN_REVIEWER,
        "Reviews a plan before work begins. Changes no file.",
        CHECKING,
        ROLES[PLAN_REVIEWER],
        reviews=True,
    ),
    Role(SCAFFOLDER, "Writes the structure that later subtasks build on.", WORKING, ROLES[SCAFFOLDER]),
    Role(IMPLEMENTER, "Does one subtask of a plan, with tests, in the smallest change.", WORKING, ROLES[IMPLEMENTER]),
    Role(FIXER, "Mends a subtask that was sent back, and nothing else.", WORKING, ROLES[FIXER]),
    Role(
        REVIEWER,
        "Reviews the integrated work of a batch, subtask by subtask. Changes no file.",
        CHECKING,
        ROLES[REVIEWER],
        reviews=True,
    ),
)


def brief(state: State, lane: Lane, role: str, purpose: str = "") -> str:
    """The prompt a role of this workflow gets now."""
    final = role == REVIEWER and lane.name == MAIN and lane.stage == "FINAL_REVIEW"
    return prompts.compose(
        state,
        lane,
        role,
        purpose,
        text=_FINAL if final else ROLES.get(role, ""),
        context=tuple(_CONTEXTS[role](state, lane)) if role in _CONTEXTS else (prompts.request(state),),
        measured="" if role in {PLANNER, PLAN_REVIEWER, REVIEWER} else prompts.measured_section(lane),
    )


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
    yield _plan("The plan", state.items)


_CONTEXTS = {
    PLANNER: _planning,
    PLAN_REVIEWER: _reviewing_plan,
    SCAFFOLDER: _working,
    IMPLEMENTER: _working,
    FIXER: _working,
    REVIEWER: _reviewing,
}


def _goal(state: State) -> str:
    return f"## Goal of the whole task\n{state.task.request.strip()[:GOAL_SHOWN]}"


def _answers(state: State, title: str = "Answers to questions") -> str:
    return prompts.listed(title, tuple(f"{asked} {said}" for asked, said in record_of(state).answers))


def _subtask(item: Item) -> str:
    files = ", ".join(f"`{file}`" for file in item.files) or "not said"
    lines = [f"## Subtask {item.id}: {item.text}", f"Files: {files}"]
    lines += [f"Needs: {', '.join(item.depends_on)}"] if item.depends_on else []
    lines += ["Acceptance:", *(f"- {point}" for point in item.acceptance)] if item.acceptance else []
    return "\n".join(lines)


def _plan(title: str, items: tuple[Item, ...]) -> str:
    return f"## {title}\n{grammar.render(items)}"


def _sent_back(rework: Rework, *, goes_on: bool) -> Iterator[str]:
    told = {
        "review": "The review sent it back",
        "conflict": "It could not be integrated: another subtask changed the same lines",
        "gates": "Integrated with the others' work, the gates failed",
        "failed": "The last attempt at it was given up",
        "undone": "It was accepted or finished and then undone",
    }
    yield prompts.listed(told[rework.why], rework.reasons)
    if rework.detail:
        yield f"```\n{rework.detail[:DETAIL_SHOWN].strip()}\n```"
    kept = "Your earlier work is in this tree, brought onto what was accepted since."
    fresh = "This tree is what was accepted so far, without your earlier work."
    yield kept if goes_on else fresh
