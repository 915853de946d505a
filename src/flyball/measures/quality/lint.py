"""Runs the lint command, on the tree, on the untouched one and without what could keep it quiet; only new findings count."""

import re
from collections import Counter

import msgspec
from msgspec.structs import replace

from flyball.core.model.measurement import GateResult
from flyball.core.model.task import Commit
from flyball.core.text.quantities import first_few, plural
from flyball.core.text.scrubbing import decode, scrub
from flyball.measures.examination import Examination
from flyball.measures.gates.commands import CommandRun
from flyball.measures.gates.telling import ABSENT, telling_line
from flyball.measures.quality.lint_excuses import bare_tree

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


class LintRun(msgspec.Struct, frozen=True):
    """What is to be said of a candidate: None where the command cannot be run, through no fault of the candidate's."""

    clean: bool | None
    detail: str


def try_lint(examination: Examination) -> tuple[GateResult, str] | None:
    """Run the configured lint command on the tree in use: how that ended, and what is to be remarked."""
    command = examination.settings.lint
    if not command:
        return None
    ran = _run(examination)
    broken = why_unusable(command, ran, examination.settings.setup_timeout_s)
    stood = f"{command}: {plural(len(findings(ran.text)), 'finding')} before the task began; only new ones count"
    return _tool(command, ran, broken), "" if broken or ran.exit.code == 0 else stood


def run_lint(examination: Examination) -> tuple[LintRun, GateResult] | None:
    """What the lint command says of the tree in use: findings that the untouched tree has too are known.

    A command that cannot run here runs on the untouched tree or is no fault of the candidate's.
    """
    if not examination.settings.lint:
        return None
    ran = _run(examination)
    said, tool = _weigh(examination, ran)
    return (_without_excuses(examination, ran) or said) if said.clean else said, tool


def _weigh(examination: Examination, ran: CommandRun) -> tuple[LintRun, GateResult]:
    command, wait = examination.settings.lint, examination.settings.setup_timeout_s
    if ran.exit.code == 0:
        return LintRun(clean=True, detail=f"{command} found nothing"), _tool(command, ran, "")
    broken = why_unusable(command, ran, wait)
    before = _run(examination, examination.workspace.tree_of(examination.request.base))
    if broken_before := why_unusable(command, before, wait):
        detail = f"the lint command cannot be run, so nothing was checked: {broken_before}"
        return LintRun(clean=None, detail=detail), _tool(command, before, broken_before)
    if broken:
        detail = f"{command} runs on the untouched tree and no longer on this one: {broken}"
        return LintRun(clean=False, detail=detail), _tool(command, ran, "")
    return _compare(command, before, ran), _tool(command, ran, "")


def _compare(command: str, before: CommandRun, after: CommandRun) -> LintRun:
    """What a candidate's findings are worth beside those of the untouched tree; both runs could run."""
    new = findings(after.text) if before.exit.code == 0 else new_findings(before.text, after.text)
    if not new and before.exit.code != 0:
        stood = plural(len(findings(before.text)), "finding") + " stood before the task"
        return LintRun(clean=True, detail=f"{command}: {stood}, none is new")
    what = first_few([line[:200] for line in new], 5) if new else telling_line(after.text)
    return LintRun(clean=False, detail=f"{command}: exit {after.exit.code}: {what}")


def _without_excuses(examination: Examination, ran: CommandRun) -> LintRun | None:
    """What the linter finds once nothing that the task added keeps it quiet; None where that is no more than before."""
    request, command = examination.request, examination.settings.lint
    bare = bare_tree(examination.workspace, request.base, Commit(examination.tree_in_use), request.consented)
    if not bare:
        return None
    sha = examination.workspace.overlay(Commit(examination.tree_in_use), bare.paths, bare.contents)
    again = _run(examination, sha)
    if again.exit.code == 0:
        return None
    places = first_few(sorted((*bare.paths, *bare.contents)), 5)
    if broken := why_unusable(command, again, examination.settings.setup_timeout_s):
        why = f"it cannot run without a comment or an ignore file that the task added in {places}"
        mend = "reword or remove it, or ask for the exception in protected_changes"
        return LintRun(clean=False, detail=f"{command}: {why}: {broken}; {mend}")
    new = new_findings(ran.text, again.text)
    if not new:
        return None
    why = f"what the task added keeps it quiet, a comment or an ignore file in {places}"
    found = first_few([line[:200] for line in new], 5)
    mend = "mend the findings, or ask for the exception in protected_changes"
    return LintRun(clean=False, detail=f"{command}: {why}; without it: {found}; {mend}")


def _run(examination: Examination, tree: str = "") -> CommandRun:
    """Run the command on a tree or on the one in use; its text is all that it printed, for every finding is compared."""
    in_use = examination.tree_in_use
    if tree:
        examination.use(tree)
    examination.lay()
    # Ruff prints one line for each finding, where the command does not say otherwise.
    ran = examination.commands.run(
        examination.settings.lint, tree=examination.tree.directory, folder=examination.commands.fresh_folder("lint"),
        timeout_s=examination.settings.setup_timeout_s, variables={"RUFF_OUTPUT_FORMAT": "concise"},
    )  # fmt: skip
    if tree:
        examination.use(in_use)
    with ran.log.open("rb") as log:
        return replace(ran, text=scrub(decode(log.read(LARGEST))))


def _tool(command: str, ran: CommandRun, broken: str) -> GateResult:
    return GateResult(
        "lint", command, passed=ran.exit.code == 0, exit_code=ran.exit.code, seconds=round(ran.exit.seconds, 3),
        broken=broken, output=ran.shown if ran.exit.code else "", log=str(ran.log),
    )  # fmt: skip


def why_unusable(command: str, ran: CommandRun, timeout_s: float) -> str:
    code, text = ran.exit.code, ran.text
    if ran.exit.ended_by in {"wall", "idle"}:
        return f"timed out after {timeout_s:g} s"
    if code == 0:
        return ""
    told = telling_line(text)
    if code is None or code < 0 or code > 125:
        return told
    placed = _placed_findings(text)
    if not placed and any(ABSENT.search(line) for line in _lines(text)[-4:]):
        return told
    if not _BETWEEN.search(command):
        known = (codes for tool, codes in _ERROR_EXITS.items() if re.search(rf"(?:^|[\s/]){tool}(?:\s|$)", command))
        if any(code in codes for codes in known):
            return f"exit {code}: {told}"
    if placed:
        return ""
    if _CRASHED.search(text):
        return f"it crashed: {told}"
    # Nearly every linter ends with 1 when it found something.
    return "" if code == 1 else f"exit {code}, and its output names no file and line: {told}"


def findings(text: str) -> tuple[str, ...]:
    """Each finding without the line it stands on; where none names a place, each line of the output."""
    return tuple(_placed_findings(text)) or tuple(_mask_numbers(line) for line in _lines(text))


def new_findings(before: str, after: str) -> tuple[str, ...]:
    """The findings of one output that the earlier one does not have; one that stands twice must have stood twice."""
    return tuple((Counter(findings(after)) - Counter(findings(before))).elements())


def _placed_findings(text: str) -> list[str]:
    """Findings that name a file and a line, in the ways linters write them down."""
    found: list[str] = []
    header = title = ""
    for line in _lines(text):
        if pointed := _POINTED.fullmatch(line):
            found.append(f"{pointed['path']}: {_mask_numbers(title)}")
        elif placed := _PLACED.fullmatch(line):
            found.append(f"{placed['path']}: {_mask_numbers(placed['text'])}")
        elif header and (below := _BELOW.fullmatch(line)):
            found.append(f"{header}: {_mask_numbers(below['text'])}")
        elif _HEADER.fullmatch(line.strip()):
            header = line.strip()
        elif not re.match(r"\s*(?:\d+\s*)?\|", line):
            title = line
    return found


def _mask_numbers(text: str) -> str:
    return " ".join(_NUMBERED.sub(r"\1N", text).split())


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
