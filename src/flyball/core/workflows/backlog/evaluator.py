"""Decides CONTINUE, DONE or BLOCKED from a situation, by a closed list of rules of which the first that holds wins."""

from __future__ import annotations

from collections.abc import Iterator

from flyball.core.workflows.backlog.evaluator_rules import RULES, Answer, Weighed, unforeseen
from flyball.core.workflows.backlog.issues.words import number_of
from flyball.core.workflows.backlog.selection import candidates
from flyball.core.workflows.backlog.values import ISSUE_FILES, Deviation, Evaluation, Situation, Status, Tally

SUGGEST_BUILD_ISSUE = "Create issue for build failure"


def evaluate(situation: Situation) -> Evaluation:
    """The decision, with its reason and all that a reader needs to follow it."""
    issues = situation.backlog.issues
    weighed = Weighed(
        situation=situation,
        candidates=candidates(situation),
        open=tuple(issue for issue in issues if issue.is_open),
        blocked=tuple(issue for issue in issues if issue.status == "blocked"),
    )
    answer = next((said for rule in RULES if (said := rule(weighed)) is not None), None) or unforeseen(weighed)
    return Evaluation(
        decision=answer.decision,
        reason=answer.reason,
        trigger=answer.trigger,
        next_issue=answer.next_issue,
        blocked_on=answer.blocked_on,
        counts=counts(situation),
        actionable=len(weighed.candidates.actionable),
        warnings=tuple(_warnings(situation, answer)),
        deviations=(*situation.backlog.deviations, *_created_nowhere(situation)),
        promise=f"LOOP_{answer.decision}",
    )


def counts(situation: Situation) -> dict[str, Tally]:
    """How many issues of each file are proposed, in progress and blocked."""
    stood: dict[tuple[str, Status], int] = {}
    files = dict.fromkeys(ISSUE_FILES)
    for issue in situation.backlog.issues:
        files.setdefault(issue.file)
        stood[issue.file, issue.status] = stood.get((issue.file, issue.status), 0) + 1
    return {
        file: Tally(
            stood.get((file, "proposed"), 0), stood.get((file, "in-progress"), 0), stood.get((file, "blocked"), 0)
        )
        for file in files
    }


def _warnings(situation: Situation, answer: Answer) -> Iterator[str]:
    yield from situation.warnings
    if not situation.unrecoverable:
        yield from (f"error: {error}" for error in situation.errors)
    session = situation.session
    if answer.decision == "CONTINUE" and session.max_cycles and session.cycles >= session.max_cycles - 1:
        yield f"approaching cycle limit ({session.cycles}/{session.max_cycles})"
    if answer.trigger == "build_failing":
        yield SUGGEST_BUILD_ISSUE
    elif situation.build == "fail":
        yield "the build fails"


def _created_nowhere(situation: Situation) -> Iterator[Deviation]:
    """Ids a validator says it created and nobody can find."""
    ids = (*(issue.id for issue in situation.backlog.issues), *situation.backlog.finished)
    known = {*ids, *map(number_of, ids)}
    for validation in situation.validations:
        for id in validation.created:
            if id not in known:
                yield Deviation(validation.file, 0, f"the {validation.kind} says it created {id}, which is in no file")
