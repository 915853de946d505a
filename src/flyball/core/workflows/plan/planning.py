"""GATHER, PLAN and PLAN_REVIEW: from a request or a document to a plan that somebody other than its author has looked at."""

from functools import partial

from msgspec.structs import replace

from flyball.core.claims.findings import Finding
from flyball.core.claims.values import Claim
from flyball.core.loop import kernel, questions
from flyball.core.loop.answers import AGENT_QUESTION, first_word
from flyball.core.loop.batches import choosing
from flyball.core.loop.batches.reviewing import review_by
from flyball.core.loop.gates import APPROVING
from flyball.core.loop.reviewing import DRAFT
from flyball.core.loop.step import ComesFirst, Step, perform, record
from flyball.core.memory.recording import anti_pattern, decisions, revisions
from flyball.core.model.effects import Option, Question, RunAgent
from flyball.core.model.events import Fact, ItemsSet, Moved, PersonSpoke, TurnSetAside
from flyball.core.model.naming import LOOP
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import Lane, State, Turn
from flyball.core.model.task import EffectId, Item
from flyball.core.text.quantities import plural
from flyball.core.workflows.plan import grammar, importing
from flyball.core.workflows.plan.effects import DraftRead, ReadDraft
from flyball.core.workflows.plan.facts import MatterSettled, PlanDrafted, PlanQuestioned, PlanReviewed
from flyball.core.workflows.plan.grammar import PlanLine, PlanText
from flyball.core.workflows.plan.prompts import PLAN_REVIEWER, PLANNER, brief
from flyball.core.workflows.plan.record import record_of

REVISIONS = 3
CLARIFICATIONS = 3
NO_PLAN = "there was no plan in the report and none in plan.md; give it as markdown in `plan`"


def following(state: State) -> str:
    """The stage in which the next subtasks are worked on, or the review of all when none is left."""
    if not record_of(state).approved:
        return "PLAN"
    left = choosing.open_subtasks(state)
    if not left:
        return "FINAL_REVIEW"
    return "SCAFFOLD" if any(item.kind == choosing.SCAFFOLD for item in left) else "EXECUTE"


def gather(state: State, lane: Lane) -> Step:
    """Where to begin, or to go on after a rollback or a reopening: a plan that stands is worked to, any other is made first."""
    known = record_of(state)
    if known.approved and importing.awaits_agreement(state):
        now = known.imported.plan
        items = (ItemsSet(importing.taken_items(state, now), "document"),) if now is not None else ()
        return record(*items, Moved("PLAN_REVIEW", "GATHER", "nobody has agreed to the plan yet"))
    if known.approved:
        return record(Moved(following(state), lane.stage, "the plan is approved"))
    if not known.drafts:
        own = own_plan(state)
        if own is not None:
            return record(*_take_over(state, own))
    if known.drafted:
        return record(Moved("PLAN_REVIEW", lane.stage, "a plan was drafted"))
    return record(Moved("PLAN", lane.stage, "there is no plan yet"))


def own_plan(state: State) -> PlanText | None:
    """The plan that the task's document is, if it is one; an acceptance it does not state is the subtask's own text."""
    imported = record_of(state).imported.plan
    if imported is not None:
        return PlanText(tuple(PlanLine(item, 0) for item in importing.taken_items(state, imported)))
    read = grammar.parse(state.task.document)
    if not read.entries or not all(e.item.id for e in read.entries) or not any(e.item.acceptance for e in read.entries):
        return None
    whole = tuple(
        replace(e, item=replace(e.item, acceptance=e.item.acceptance or (e.item.text,))) for e in read.entries
    )
    return replace(read, entries=whole, problems=grammar.problems(whole))


def _take_over(state: State, own: PlanText) -> tuple[Fact, ...]:
    if own.problems:
        return (PlanDrafted("document", problems=own.problems), Moved("PLAN", "GATHER", own.problems[0]))
    told = f"{plural(len(own.items), 'subtask')} from the document"
    asks = state.task.settings.approve_plan
    approval = PlanReviewed(True, "nobody" if asks else "document")
    stage = "PLAN_REVIEW" if asks else "GATHER"
    return (ItemsSet(own.items, "document"), PlanDrafted("document"), approval, Moved(stage, "GATHER", told))


def plan(state: State, lane: Lane) -> Step:
    """One turn of the planner at a time, until there is a plan without a problem; a plan of the user's is no planner's to change."""
    known = record_of(state)
    source = importing.source_of(state)
    if source is not None and lane.turn is None and state.items:
        return record(PlanReviewed(True, "document"), Moved("GATHER", lane.stage, f"the plan is {source.path}"))
    if lane.turn is not None:
        turn = kernel.ended_turn(state, lane)
        text = _drafted_text(state, lane, lane.turn, turn.claim)
        return record(*_read(state, lane, lane.turn.effect, turn, text))
    if known.rejections >= REVISIONS:
        return questions.put(state, lane, _rejected_question(state))
    if known.clarified >= CLARIFICATIONS:
        return questions.put(state, lane, _unclear_question(state))
    return kernel.spawn(state, lane, brief, role=PLANNER, purpose="plan")


def _drafted_text(state: State, lane: Lane, turn: Turn, claim: Claim) -> str:
    """The plan of a planner's turn: from its report, else from the plan.md it edited."""
    if claim.plan.strip() or claim.questions:
        return claim.plan
    key = EffectId(f"draft/{turn.effect.turn}")
    read = lane.outcomes.get(key)
    if isinstance(read, DraftRead):
        same = grammar.parse(read.text).items == state.items
        return "" if same else read.text
    assert turn.saved is not None
    draft = ReadDraft(key, commit=turn.saved.commit, path=f"{LOOP}/{state.task.id}/plan.md")
    raise ComesFirst(perform(draft))


def _read(state: State, lane: Lane, effect: RunAgent, turn: TurnEnded, text: str) -> tuple[Fact, ...]:
    """What a planner's turn comes to: questions, a plan to be mended, or a plan to be reviewed."""
    claim, number = turn.claim, effect.turn
    if claim.questions and (claim.status == "needs_clarification" or not claim.plan.strip()):
        asked = tuple(
            Question(f"{AGENT_QUESTION}{number}-{n}", q.text, tuple(Option(o, "") for o in q.options), q.default)
            for n, q in enumerate(claim.questions, 1)
        )
        told = plural(len(asked), "question")
        return (PlanQuestioned(number, asked), TurnSetAside(number, "planned", told))
    found = grammar.parse(text)
    problems = found.problems if text.strip() else (NO_PLAN,)
    if problems:
        told = plural(len(problems), "problem")
        return (PlanDrafted("planner", number, problems), TurnSetAside(number, "planned", told))
    items = revise_items(state.items if record_of(state).drafts else (), found.items)
    told = plural(len(items), "subtask")
    return (
        *decisions(state, lane, effect, turn),
        ItemsSet(items, "planner"),
        PlanDrafted("planner", number),
        TurnSetAside(number, "planned", told),
        Moved("PLAN_REVIEW", "PLAN", told),
    )


def revise_items(known: tuple[Item, ...], new: tuple[Item, ...]) -> tuple[Item, ...]:
    """A revised plan: what is completed stays, whatever a planner made of it, and only code ticks a box."""
    done = {item.id: item for item in known if item.status == "completed"}
    statuses = {item.id: item.status for item in known}
    revised = tuple(done.get(item.id, replace(item, status=statuses.get(item.id, "not-started"))) for item in new)
    there = {item.id for item in revised}
    return (*(item for item in done.values() if item.id not in there), *revised)


def review(state: State, lane: Lane) -> Step:
    """Another turn looks at the plan; then a person, where they want to."""
    known = record_of(state)
    if known.approved:
        if state.task.settings.approve_plan and not known.agreed:
            return questions.put(state, lane, _agreement_question(state), partial(weigh_answer, state))
        return record(Moved(following(state), lane.stage, "the plan was approved"))
    if not known.drafted:
        why = known.findings[0].message if known.findings else "the plan is to be revised"
        return record(Moved("PLAN", lane.stage, why, rejected=True))
    said = review_by(state, lane, brief, PLAN_REVIEWER, commit=lane.head, purpose=DRAFT)
    return record(*_verdict(state, lane, *said))


def _verdict(state: State, lane: Lane, effect: RunAgent, claim: Claim) -> tuple[Fact, ...]:
    number, revised = effect.turn, revisions(state, lane, effect, claim)
    blocking = tuple(f for f in claim.findings if f.blocks)
    if claim.verdict in APPROVING and not blocking:
        return (PlanReviewed(True, "reviewer", number, claim.findings), *revised)
    why = blocking or claim.standing or (Finding("major", claim.summary or "the plan was rejected without a reason"),)
    told = "; ".join(f.message for f in why)
    lesson = anti_pattern(state, lane, "plan-review", "the plan was rejected", told, turn=number)
    return (PlanReviewed(False, "reviewer", number, why), *revised, lesson)


def _agreement_question(state: State) -> Question:
    source = importing.source_of(state)
    if source is not None:
        text = (
            f"Is this the plan? No planner changes {source.path}: to change the plan, edit that file, and answer: again"
        )
        read = Option("again", f"{source.path} is edited: read it again and show the plan")
        return Question("plan", text, (Option("yes", "work to this plan"), read), detail=grammar.render(state.items))
    options = (
        Option("yes", "work to this plan"),
        Option("TEXT", "say what is to change, for the planner; or give the edited plan, line by line"),
    )
    return Question("plan", "Is this the plan?", options, detail=grammar.render(state.items))


def weigh_answer(state: State, lane: Lane, key: EffectId, answer: str) -> tuple[Fact, ...]:
    """What becomes of a person's word on the plan: yes, an edited plan, which is worked to, or what is to change.

    A plan that is a file of the user's is changed there, and read again.
    """
    if first_word(answer) in {"yes", "y", "ok"}:
        return (PlanReviewed(True, "person"),)
    source = importing.source_of(state)
    if source is not None:
        return (MatterSettled(None), Moved("GATHER", "PLAN_REVIEW", f"{source.path} is read again"))
    edited = grammar.parse(answer)
    if edited.entries and not edited.problems:
        items = revise_items(state.items, edited.items)
        return (ItemsSet(items, "person"), PlanDrafted("person"), PlanReviewed(True, "person"))
    why = edited.problems if edited.entries else (answer,)
    return (
        PersonSpoke("modify", f"The plan: {answer}", question=key, lane=lane.name),
        PlanReviewed(False, "person", findings=tuple(Finding("major", each) for each in why)),
    )


def _rejected_question(state: State) -> Question:
    known = record_of(state)
    why = known.problems or tuple(f.message for f in known.findings)
    text = f"The plan was sent back {plural(known.rejections, 'time')}: {why[0] if why else 'no reason was given'}"
    return Question("plan-rejected", text, questions.FOUR_CHOICES, detail="\n".join(why))


def _unclear_question(state: State) -> Question:
    known = record_of(state)
    told = "\n".join(f"{asked} {said}" for asked, said in known.answers)
    text = f"The planner has asked {plural(known.clarified, 'round')} of questions and made no plan."
    return Question("plan-unclear", text, questions.FOUR_CHOICES, detail=told)
