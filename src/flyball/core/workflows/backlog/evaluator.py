"""Decides CONTINUE, DONE or BLOCKED from a situation, by `RULES`: a closed list of which the first that holds wins.

DONE is the one answer that must be earned: nothing open anywhere, everything known and everything good.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import msgspec

from flyball.core.text.quantities import plural
from flyball.core.workflows.backlog import values
from flyball.core.workflows.backlog.issues.words import number_of
from flyball.core.workflows.backlog.selection import Candidates, candidates, is_called, needs_input

FAILURES_THAT_BLOCK = 3
CYCLES_THAT_BLOCK = 3
SHOWN = 3


class RuleAnswer(msgspec.Struct, frozen=True):
    decision: values.Decision
    trigger: values.Trigger
    reason: str
    blocked_on: tuple[str, ...] = ()
    next_issue: str | None = None


class Weighing(msgspec.Struct, frozen=True):
    situation: values.Situation
    candidates: Candidates
    open: tuple[values.Issue, ...]
    blocked: tuple[values.Issue, ...]


def idle_cycles(session: values.Session) -> int:
    """Cycles in a row without a completed issue; where nobody counted, all of them if nothing was completed."""
    if session.cycles_without_completion is not None:
        return session.cycles_without_completion
    return 0 if session.completed or session.completed_count else session.cycles


def _unrecoverable(weighed: Weighing) -> RuleAnswer | None:
    if not weighed.situation.unrecoverable:
        return None
    error = (*weighed.situation.errors, "unrecoverable, with no message")[0]
    return _block("unrecoverable_error", f"Error: {error}", *weighed.situation.errors)


def _critical_security(weighed: Weighing) -> RuleAnswer | None:
    found = next((v for v in weighed.situation.validations if v.critical_security), None)
    if found is None:
        return None
    where = found.critical_in or f"the {found.kind}"
    return _block("critical_security", f"Critical security finding in {where}", where)


def _failed_often(weighed: Weighing) -> RuleAnswer | None:
    """An issue that is finished by now no longer counts, whatever it took."""
    backlog, session = weighed.situation.backlog, weighed.situation.session
    still = {issue.id for issue in backlog.issues if not issue.is_final}
    over = {issue.id for issue in backlog.issues if issue.is_final} | {*backlog.finished, *session.completed}
    stuck = [
        id
        for id, count in sorted(session.failures.items())
        if count >= FAILURES_THAT_BLOCK and (id in still or id not in over)
    ]
    if not stuck:
        return None
    reason = f"Issue {stuck[0]} failed validation {session.failures[stuck[0]]} times"
    return _block("failed_3x", reason, *stuck)


def _nothing_completed(weighed: Weighing) -> RuleAnswer | None:
    idle = idle_cycles(weighed.situation.session)
    if idle < CYCLES_THAT_BLOCK:
        return None
    return _block("no_completion", f"{idle} cycles with no completed issues", weighed.situation.session.focus)


def _focus_needs_input(weighed: Weighing) -> RuleAnswer | None:
    session = weighed.situation.session
    focused = (i for i in weighed.situation.backlog.issues if is_called(i, session.focus))
    asking = next((i.id for i in focused if not i.is_final and needs_input(i) and i.id not in session.answered), "")
    return _block("needs_input", f"Issue {asking} requires human input", asking) if asking else None


def _none_actionable(weighed: Weighing) -> RuleAnswer | None:
    if not weighed.open or weighed.candidates.actionable:
        return None
    under_way = any(issue.status == "in-progress" for issue in weighed.open)
    kind = "open" if under_way else "proposed"
    reason = f"{plural(len(weighed.open), f'{kind} issue')} but none actionable autonomously"
    causes = (f"{issue.id}: {cause}" for issue, cause in weighed.candidates.waiting)
    return _block("no_actionable", reason, *causes)


def _only_blocked(weighed: Weighing) -> RuleAnswer | None:
    if weighed.open or not weighed.blocked:
        return None
    reason = f"Only blocked issues remain ({len(weighed.blocked)} blocked)"
    return _block("only_blocked", reason, *(issue.id for issue in weighed.blocked))


def _build_fails(weighed: Weighing) -> RuleAnswer | None:
    if weighed.open or weighed.situation.build != "fail":
        return None
    return _block("build_failing", "Build failing with no issues to fix", "build")


def _gates_unmet(weighed: Weighing) -> RuleAnswer | None:
    if weighed.open:
        return None
    failed = [v.kind for v in weighed.situation.validations if not v.passed]
    unmet = weighed.situation.gates == "unmet"
    if not failed and not unmet:
        return None
    said = [f"validation failed ({', '.join(failed)})"] if failed else []
    said += ["quality gates are not met"] if unmet else []
    reason = f"Nothing is left to work on, but {' and '.join(said)}"
    return _block("gates_unmet", reason, *failed, *(["quality gates"] if unmet else []))


def _not_verified(weighed: Weighing) -> RuleAnswer | None:
    if weighed.open:
        return None
    places = [
        f"{each.file}{f', line {each.line}' if each.line else ''}: {each.message}"
        for each in weighed.situation.backlog.unread
    ]
    unknown = [*_unknowns(weighed.situation)]
    if not places and not unknown:
        return None
    more = [f"and {plural(len(places) - SHOWN, 'more place')}"] if len(places) > SHOWN else []
    reason = f"Nothing is left to work on, but {'; '.join((*places[:SHOWN], *more, *unknown))}"
    return _block("unverified", reason, *places, *unknown)


def _all_done(weighed: Weighing) -> RuleAnswer | None:
    situation = weighed.situation
    validated = not missing_validators(situation) and all(v.passed and not v.created for v in situation.validations)
    good = validated and not situation.backlog.unread and situation.build == "pass" and situation.gates == "met"
    if weighed.open or weighed.blocked or not good:
        return None
    return RuleAnswer("DONE", "done", "All issues completed, no regressions found, quality gates met.")


def _cycle_limit(weighed: Weighing) -> RuleAnswer | None:
    """Only what would have gone on is stopped by the limit."""
    session = weighed.situation.session
    if not session.max_cycles or session.cycles < session.max_cycles or not weighed.candidates.actionable:
        return None
    following = weighed.candidates.actionable[0].id
    reason = (
        f"Cycle limit reached ({session.cycles}/{session.max_cycles}) with {plural(len(weighed.open), 'issue')} open"
    )
    return RuleAnswer("BLOCKED", "cycle_limit", reason, ("cycle limit",), following)


def _actionable(weighed: Weighing) -> RuleAnswer | None:
    remaining = weighed.candidates.actionable
    if not remaining:
        return None
    verb = "remains" if len(remaining) == 1 else "remain"
    reason = f"{plural(len(remaining), 'actionable issue')} {verb}."
    still_open = {name for issue in weighed.open for name in (issue.id, number_of(issue.id))}
    created = {id for v in weighed.situation.validations for id in v.created if id in still_open}
    if created:
        reason = f"Validation created {plural(len(created), 'issue')} to fix; {reason}"
    return RuleAnswer("CONTINUE", "actionable", reason, next_issue=remaining[0].id)


def unforeseen(weighed: Weighing) -> RuleAnswer:
    """Reached by no situation known; whatever it is, it is not done."""
    return _block("unverified", f"No rule fits: {plural(len(weighed.open), 'issue')} open")


RULES: tuple[Callable[[Weighing], RuleAnswer | None], ...] = (
    _unrecoverable,
    _critical_security,
    _failed_often,
    _nothing_completed,
    _focus_needs_input,
    _none_actionable,
    _only_blocked,
    _build_fails,
    _gates_unmet,
    _not_verified,
    _all_done,
    _cycle_limit,
    _actionable,
)


def _block(trigger: values.Trigger, reason: str, *blocked_on: str) -> RuleAnswer:
    return RuleAnswer("BLOCKED", trigger, reason, tuple(each for each in blocked_on if each))


def _unknowns(situation: values.Situation) -> Iterator[str]:
    """What stands between an empty backlog and DONE, though nothing is known to be wrong."""
    if situation.build == "unknown":
        yield "nobody said whether the build passes"
    if situation.gates == "unknown":
        yield "nobody said whether the quality gates are met"
    missing = missing_validators(situation)
    if missing:
        yield f"no {' and no '.join(missing)} was given"
    created = [id for validation in situation.validations for id in validation.created]
    if created:
        yield f"validation created {', '.join(created)}, and nothing was validated since"


def missing_validators(situation: values.Situation) -> list[str]:
    """The validators whose word is required and was not given; none where nothing was changed that they could look at."""
    if situation.untouched:
        return []
    given = {_words(validation.kind) for validation in situation.validations}
    required = situation.validators or (() if given else ("validation",))
    return [kind for kind in required if _words(kind) not in given]


def _words(kind: str) -> tuple[str, ...]:
    return tuple(re.split(r"[-_\s]+", kind.strip().casefold()))


def evaluate(situation: values.Situation) -> values.Evaluation:
    issues = situation.backlog.issues
    weighed = Weighing(
        situation=situation,
        candidates=candidates(situation),
        open=tuple(issue for issue in issues if issue.is_open),
        blocked=tuple(issue for issue in issues if issue.status == "blocked"),
    )
    answer = next((said for rule in RULES if (said := rule(weighed)) is not None), None) or unforeseen(weighed)
    return values.Evaluation(
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


def counts(situation: values.Situation) -> dict[str, values.FileTally]:
    issues = situation.backlog.issues
    stood = Counter((issue.file, issue.status) for issue in issues)
    files = dict.fromkeys((*values.ISSUE_FILES, *(issue.file for issue in issues)))
    return {
        file: values.FileTally(stood[file, "proposed"], stood[file, "in-progress"], stood[file, "blocked"])
        for file in files
    }


def _warnings(situation: values.Situation, answer: RuleAnswer) -> Iterator[str]:
    yield from situation.warnings
    if not situation.unrecoverable:
        yield from (f"error: {error}" for error in situation.errors)
    session = situation.session
    if answer.decision == "CONTINUE" and session.max_cycles and session.cycles >= session.max_cycles - 1:
        yield f"approaching cycle limit ({session.cycles}/{session.max_cycles})"
    if answer.trigger == "build_failing":
        yield "Create issue for build failure"
    elif situation.build == "fail":
        yield "the build fails"


def _created_nowhere(situation: values.Situation) -> Iterator[values.Deviation]:
    """Ids a validator says it created and nobody can find."""
    ids = (*(issue.id for issue in situation.backlog.issues), *situation.backlog.finished)
    known = {*ids, *map(number_of, ids)}
    for validation in situation.validations:
        for id in validation.created:
            if id not in known:
                yield values.Deviation(
                    validation.file, 0, f"the {validation.kind} says it created {id}, which is in no file"
                )
