"""What a lint command's run says: that it could not run, or findings, told from those that stood before the task."""

import re
from collections import Counter

import msgspec

from flyball.core.text.quantities import first_few, plural
from flyball.core.text.scrubbing import decode, scrub
from flyball.measures.gates.commands import CommandRun
from flyball.measures.gates.telling import ABSENT, telling_line

VARIABLES = {"RUFF_OUTPUT_FORMAT": "concise"}
"""One line for each finding, where the command does not say otherwise."""

_PLACED = re.compile(
    r"\s*(?P<path>(?=[^:(|]*[A-Za-z/.])[^\s:(|][^:(|]*?)(?::\d+(?:[:-]\d+)*|\(\d+(?:,\d+)?\))(?::\s*|\s+)(?:-\s+)?(?P<text>\S.*)"
)
_POINTED = re.compile(r"\s*-->\s+(?P<path>[^:]+):\d+(?::\d+)?\s*")
_BELOW = re.compile(r"\s+\d+:\d+\s+(?P<text>\S.*)")
_HEADER = re.compile(r"(?:\S*/)?[^\s/:]+\.\w+")
_NUMBERED = re.compile(r"(\blines? )\d+(?:-\d+)?|:\d+(?::\d+)*|\b\d+(?:\.\d+)?\s?m?s\b", re.IGNORECASE)

_CRASHED = re.compile(r"^Traceback \(most recent call last\)|^\s+at .+\(.+:\d+:\d+\)$", re.MULTILINE)
_ERROR_EXITS = {"ruff": {2}, "eslint": {2}, "mypy": {2}, "prettier": {2}, "pylint": {32}, "golangci-lint": {2, 3, 4, 5}}
"""What known linters end with when they themselves failed."""
_BETWEEN = re.compile(r"\b(?:make|npm|pnpm|yarn|tox|nox|just|pre-commit)\b(?! exec)")
LARGEST = 16 * 1024 * 1024
"""Bytes of an output that are read."""
_FOUND = 1
"""What nearly every linter ends with when it found something."""


class LintRun(msgspec.Struct, frozen=True):
    """What is to be said of a candidate: None where the command cannot be run, through no fault of the candidate's."""

    clean: bool | None
    detail: str


def unusable(command: str, ran: CommandRun, timeout_s: float) -> str:
    """Why a run says nothing about the code, or an empty string."""
    code, text = ran.exit.code, ran.text
    if ran.exit.ended_by in {"wall", "idle"}:
        return f"timed out after {timeout_s:g} s"
    if code == 0:
        return ""
    told = telling_line(text)
    if code is None or code < 0 or code > 125:
        return told
    if any(ABSENT.search(line) for line in _lines(text)[-4:]) and not _placed(text):
        return told
    if not _BETWEEN.search(command):
        known = (codes for tool, codes in _ERROR_EXITS.items() if re.search(rf"(?:^|[\s/]){tool}(?:\s|$)", command))
        if any(code in codes for codes in known):
            return f"exit {code}: {told}"
    if _placed(text):
        return ""
    if _CRASHED.search(text):
        return f"it crashed: {told}"
    return "" if code == _FOUND else f"exit {code}, and its output names no file and line: {told}"


def whole(ran: CommandRun) -> str:
    """All that a run printed, not only its end: every finding is compared."""
    with ran.log.open("rb") as log:
        return scrub(decode(log.read(LARGEST)))


def found(text: str) -> tuple[str, ...]:
    """Each finding without the line it stands on; where none names a place, each line of the output."""
    return tuple(_placed(text)) or tuple(_masked(line) for line in _lines(text))


def fresh(before: str, after: str) -> tuple[str, ...]:
    """The findings of one output that the earlier one does not have; one that stands twice must have stood twice."""
    return tuple((Counter(found(after)) - Counter(found(before))).elements())


def compared(command: str, before: CommandRun, after: CommandRun) -> LintRun:
    """What a candidate's findings are worth beside those of the untouched tree; both runs could run."""
    if before.exit.code == 0:
        return _refused(command, after, found(after.text))
    known, new = len(found(before.text)), fresh(before.text, after.text)
    stood = plural(known, "finding") + " stood before the task"
    return _refused(command, after, new) if new else LintRun(clean=True, detail=f"{command}: {stood}, none is new")


def stood_before(command: str, ran: CommandRun) -> str:
    """The remark on an untouched tree that is not clean."""
    if ran.exit.code == 0:
        return ""
    return f"{command}: {plural(len(found(ran.text)), 'finding')} before the task began; only new ones count"


def _refused(command: str, ran: CommandRun, new: tuple[str, ...]) -> LintRun:
    what = first_few([line[:200] for line in new], 5) if new else telling_line(ran.text)
    return LintRun(clean=False, detail=f"{command}: exit {ran.exit.code}: {what}")


def _placed(text: str) -> list[str]:
    """Findings that name a file and a line, in the ways linters write them down."""
    found: list[str] = []
    header = title = ""
    for line in _lines(text):
        if pointed := _POINTED.fullmatch(line):
            found.append(f"{pointed['path']}: {_masked(title)}")
        elif placed := _PLACED.fullmatch(line):
            found.append(f"{placed['path']}: {_masked(placed['text'])}")
        elif header and (below := _BELOW.fullmatch(line)):
            found.append(f"{header}: {_masked(below['text'])}")
        elif _HEADER.fullmatch(line.strip()):
            header = line.strip()
        elif not re.match(r"\s*(?:\d+\s*)?\|", line):
            title = line
    return found


def _masked(text: str) -> str:
    return " ".join(_NUMBERED.sub(r"\1N", text).split())


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
