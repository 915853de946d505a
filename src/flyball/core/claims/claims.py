"""What an agent says of its own work: found in its report file, its final message or native markers, first found wins."""

from collections.abc import Callable

import msgspec

from flyball.core.claims.native_markers import read_native
from flyball.core.claims.report_object import Unusable, is_partial, read_report
from flyball.core.claims.validation_summary import own_summaries
from flyball.core.claims.values import MAX_PROBLEM, MAX_PROBLEMS, Claim
from flyball.core.text.fences import Message, split_fences
from flyball.core.text.scrubbing import clean

FENCE = "flyball-report"
MAX_MESSAGE = 1024 * 1024


def read_claim(
    *,
    report_file: bytes | None,
    final_message: str,
    nonce: str,
    prompt: str,
    echoed: Callable[[str], bool],
) -> Claim:
    """Read a turn's claim; whatever was wrong on the way to it is in `problems`.

    `echoed` says whether a text stands in the tree; it is asked only about words without a nonce: markers and summaries.
    """
    problems: list[str] = []
    message = split_fences(final_message[-MAX_MESSAGE:])
    if len(final_message) > MAX_MESSAGE:
        problems.append(
            f"the final message is {len(final_message)} characters long; only its last {MAX_MESSAGE} are read"
        )
    notes = _notes(report_file, nonce)
    claim = _final_report(None if notes else report_file, message, nonce, problems)
    if claim is None:
        claim = _native(message, _finder(prompt), echoed)
    if notes is not None:
        claim = _with_notes(claim, notes)
    problems = [clean(problem, MAX_PROBLEM) for problem in (*problems, *claim.problems)]
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS - 1 :] = [f"and {len(problems) - MAX_PROBLEMS + 1} more problems"]
    return msgspec.structs.replace(claim, problems=tuple(problems))


def _native(message: Message, in_prompt: Callable[[str], bool], in_tree: Callable[[str], bool]) -> Claim:
    """What an agent without a report says in its own words: by markers, and by a validator's summary."""

    def is_echo(text: str) -> bool:
        return in_prompt(text) or in_tree(text)

    claim = read_native(message, echoed=is_echo)
    reviews, echoes = own_summaries(message.prose, is_echo)
    return msgspec.structs.replace(claim, reviews=reviews, problems=(*claim.problems, *echoes))


def _notes(report_file: bytes | None, nonce: str) -> Claim | None:
    """What was noted in the course of a turn, in a report that says of itself that it is partial."""
    if report_file is None or not is_partial(report_file):
        return None
    claim = read_report(report_file, nonce, "report-file")
    return None if isinstance(claim, Unusable) else claim


def _with_notes(claim: Claim, notes: Claim) -> Claim:
    """A claim with the questions and the last word of what was noted before; a note signals nothing and judges nothing."""
    status = notes.status if notes.status in {"in_progress", "needs_clarification"} else ""
    return msgspec.structs.replace(
        claim,
        status=claim.status or status,
        summary=claim.summary or notes.summary,
        questions=(*claim.questions, *(q for q in notes.questions if q not in claim.questions)),
        problems=(*claim.problems, *notes.problems),
    )


def _final_report(report_file: bytes | None, message: Message, nonce: str, problems: list[str]) -> Claim | None:
    """The report that counts, if there is one; those that do not are named in `problems`."""
    if report_file is not None and report_file.strip():
        claim = read_report(report_file, nonce, "report-file")
        if not isinstance(claim, Unusable):
            return claim
        problems.append(f"the report file {claim.reason}")
    fenced = [fence for fence in message.fences if fence.info.split()[:1] == [FENCE]]
    if fenced:
        claim = read_report(fenced[-1].text.encode("utf-8", "replace"), nonce, "fenced-block")
        if not isinstance(claim, Unusable):
            return claim
        problems.append(f"the {FENCE} block {claim.reason}")
    return None


def _finder(prompt: str) -> Callable[[str], bool]:
    """Whether a text stands in the prompt as whole words, however its white space is laid out."""
    words = " ".join(prompt.split())

    def stands(text: str) -> bool:
        wanted = " ".join(text.split())
        at = words.find(wanted) if wanted else -1
        while at >= 0 and not _is_whole_word(words, at, at + len(wanted)):
            at = words.find(wanted, at + 1)
        return at >= 0

    return stands


def _is_whole_word(words: str, start: int, end: int) -> bool:
    return not words[max(0, start - 1) : start].isalnum() and not words[end : end + 1].isalnum()
