"""What an agent may say of its own work: the values of a claim, and the one table of words that lead to them."""

from typing import Literal, get_args

import msgspec

from flyball.core.claims.findings import Finding
from flyball.core.claims.reviews import Validation

Status = Literal["complete", "in_progress", "blocked", "needs_clarification"]
Verdict = Literal["pass", "warn", "fail"]
Severity = Literal["critical", "major", "minor", "suggestion"]
BlockerType = Literal["dependency", "external", "fundamental"]
Source = Literal["report-file", "fenced-block", "native", "none"]
Metric = int | float | str | bool

MAX_PLAN = 200_000
MAX_ITEMS = 100
MAX_METRICS = 200
MAX_PROBLEMS = 50
MAX_PROBLEM = 300


class Rejection(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    reason: str = ""


class EarlierFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer says of a finding of an earlier look, by its id."""

    id: str
    gone: bool
    because: str = ""


class FindingAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What who was to mend a finding says of it, by its id."""

    id: str
    done: bool
    because: str = ""


class ClaimedBlocker(msgspec.Struct, frozen=True, omit_defaults=True):
    type: BlockerType
    description: str


class OpenQuestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent asks of a person; the engine gives it a name."""

    text: str
    options: tuple[str, ...] = ()
    default: str | None = None


class ProtectedChange(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    reason: str = ""


class DesignDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A choice about the work, to become a learning; not the loop's CONTINUE, DONE or BLOCKED."""

    title: str
    context: str = ""
    choice: str = ""
    alternatives: tuple[str, ...] = ()
    consequences: str = ""
    depends_on: tuple[str, ...] = ()
    invalidated_if: str = ""
    supersedes: tuple[str, ...] = ()


class ClaimedRevision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer says of an earlier learning: that it no longer holds, or that the one named in `by` takes its place."""

    id: str
    because: str = ""
    by: str = ""


class ProposedIssue(msgspec.Struct, frozen=True, omit_defaults=True):
    title: str
    type: str = ""
    priority: str = ""
    problem: str = ""
    acceptance: tuple[str, ...] = ()


class BusinessDocSync(msgspec.Struct, frozen=True, omit_defaults=True):
    required: bool = False
    reason: str = ""
    documents: tuple[str, ...] = ()


class ClaimedCriterion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What shows, as the agent says, that a criterion is met: a test, or a file and a line of it."""

    id: str
    shown_by: str = ""


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent says of its own work, where it said so, and what was wrong with how it said it.

    `left` is what it says remains to be done; `reviews` are a validator's summaries in markdown, of which there are none beside a report.
    """

    status: Status | Literal[""] = ""
    exit_signal: bool = False
    summary: str = ""
    verdict: Verdict | Literal[""] = ""
    approved: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    criteria: tuple[ClaimedCriterion, ...] = ()
    left: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    earlier: tuple[EarlierFinding, ...] = ()
    answers: tuple[FindingAnswer, ...] = ()
    blockers: tuple[ClaimedBlocker, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    protected_changes: tuple[ProtectedChange, ...] = ()
    decisions: tuple[DesignDecision, ...] = ()
    supersedes: tuple[ClaimedRevision, ...] = ()
    invalidates: tuple[ClaimedRevision, ...] = ()
    metrics: dict[str, Metric] = {}
    issues: tuple[ProposedIssue, ...] = ()
    plan: str = ""
    business_doc_sync: BusinessDocSync | None = None
    source: Source = "none"
    problems: tuple[str, ...] = ()
    reviews: tuple[Validation, ...] = ()

    @property
    def in_progress(self) -> bool:
        return self.status == "in_progress" and not self.exit_signal

    @property
    def standing(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if not each.aside)


WORDS: dict[str, dict[str, str]] = {
    "status": {
        "COMPLETE": "complete",
        "COMPLETED": "complete",
        "DONE": "complete",
        "DRAFT": "complete",  # a planner's turn is over when its draft stands; the review judges it
        "IN PROGRESS": "in_progress",
        "BLOCKED": "blocked",
        "NEEDS CLARIFICATION": "needs_clarification",
    },
    "promise": {
        "LOOP DONE": "complete",
        "ISSUE COMPLETE": "complete",
        "PRE ITERATION COMPLETE": "complete",
        "VALIDATION COMPLETE": "complete",
        "NO ISSUES": "complete",
        "LOOP CONTINUE": "in_progress",
        "LOOP BLOCKED": "blocked",
        "LOOP ERROR": "blocked",
        "ISSUE BLOCKED": "blocked",
        "ALL BLOCKED": "blocked",
    },
    "verdict": {
        "PASS": "pass",
        "PASSED": "pass",
        "APPROVE": "pass",
        "APPROVED": "pass",
        "WARN": "warn",
        "WARNING": "warn",
        "CONCERNS": "warn",
        "APPROVED WITH REVIEW": "warn",
        "FAIL": "fail",
        "FAILED": "fail",
        "REJECT": "fail",
        "REJECTED": "fail",
        "CHANGES REQUESTED": "fail",
        "NEEDS REVISION": "fail",
        "INCOMPLETE": "fail",
    },
    "severity": {
        "CRITICAL": "critical",
        "MAJOR": "major",
        "IMPORTANT": "major",
        "HIGH": "major",
        "MINOR": "minor",
        "MEDIUM": "minor",
        "WARNING": "minor",
        "SUGGESTION": "suggestion",
        "LOW": "suggestion",
        "INFO": "suggestion",
    },
    "type": {
        "DEPENDENCY": "dependency",
        "EXTERNAL": "external",
        "FUNDAMENTAL": "fundamental",
    },
}

EXPECTED = {
    "status": get_args(Status),
    "verdict": get_args(Verdict),
    "severity": get_args(Severity),
    "type": get_args(BlockerType),
}

# From least to most favourable: where an agent contradicts itself, the first found here is what it said.
CAUTION = {"status": ("blocked", "needs_clarification", "in_progress", "complete"), "verdict": ("fail", "warn", "pass")}


def meaning(kind: str, word: str) -> str:
    """What a word means, whichever loop taught it to the agent; empty when it means nothing here."""
    return WORDS[kind].get(" ".join(word.upper().replace("_", " ").replace("-", " ").split()), "")
