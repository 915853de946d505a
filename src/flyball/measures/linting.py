"""Runs the lint command: what it says of a tree, of the untouched one, and of the tree without what could keep it quiet."""

from msgspec.structs import replace

from flyball.core.model.measurement import GateResult
from flyball.core.model.task import Commit
from flyball.core.text.quantities import first_few
from flyball.measures.examination import Examination
from flyball.measures.gates.commands import CommandRun
from flyball.measures.quality import lint
from flyball.measures.quality.lint import LintRun
from flyball.measures.quality.lint_excuses import bared, listed_places

CANNOT_RUN = "the lint command cannot be run, so nothing was checked"


def try_lint(examination: Examination) -> tuple[GateResult, str] | None:
    """Run the configured lint command on the tree in use: how that ended, and what is to be remarked."""
    command = examination.settings.lint
    if not command:
        return None
    ran = _run(examination)
    broken = lint.unusable(command, ran, examination.settings.setup_timeout_s)
    tried = _tool(command, ran, broken)
    return tried, "" if broken else lint.stood_before(command, ran)


def run_lint(examination: Examination) -> tuple[LintRun, GateResult] | None:
    """What the lint command says of the tree in use: findings that the untouched tree has too are known.

    A command that cannot run here runs on the untouched tree or is no fault of the candidate's.
    """
    if not examination.settings.lint:
        return None
    ran = _run(examination)
    said, tool = _weighed(examination, ran)
    return (_unexcused(examination, ran) or said) if said.clean else said, tool


def _weighed(examination: Examination, ran: CommandRun) -> tuple[LintRun, GateResult]:
    command, wait = examination.settings.lint, examination.settings.setup_timeout_s
    if ran.exit.code == 0:
        return LintRun(clean=True, detail=f"{command} found nothing"), _tool(command, ran, "")
    broken = lint.unusable(command, ran, wait)
    before = _run(examination, examination.workspace.tree_of(examination.request.base))
    if broken_before := lint.unusable(command, before, wait):
        return LintRun(clean=None, detail=f"{CANNOT_RUN}: {broken_before}"), _tool(command, before, broken_before)
    if broken:
        detail = f"{command} runs on the untouched tree and no longer on this one: {broken}"
        return LintRun(clean=False, detail=detail), _tool(command, ran, "")
    return lint.compared(command, before, ran), _tool(command, ran, "")


def _unexcused(examination: Examination, ran: CommandRun) -> LintRun | None:
    """What the linter finds once nothing that the task added keeps it quiet; None where that is no more than before."""
    request, command = examination.request, examination.settings.lint
    bare = bared(examination.workspace, request.base, Commit(examination.tree_in_use), request.consented)
    if not bare:
        return None
    sha = examination.workspace.overlay(Commit(examination.tree_in_use), bare.paths, bare.contents)
    again = _run(examination, sha)
    if again.exit.code == 0 or lint.unusable(command, again, examination.settings.setup_timeout_s):
        return None
    new = lint.fresh(ran.text, again.text)
    if not new:
        return None
    why = f"what the task added keeps it quiet, a comment or an ignore file in {first_few(sorted(listed_places(bare)), 5)}"
    found = first_few([line[:200] for line in new], 5)
    mend = "mend the findings, or ask for the exception in protected_changes"
    return LintRun(clean=False, detail=f"{command}: {why}; without it: {found}; {mend}")


def _run(examination: Examination, tree: str = "") -> CommandRun:
    in_use = examination.tree_in_use
    if tree:
        examination.use(tree)
    examination.lay()
    ran = examination.commands.run(
        examination.settings.lint, tree=examination.tree.directory, folder=examination.commands.fresh_folder("lint"),
        timeout_s=examination.settings.setup_timeout_s, variables=lint.VARIABLES,
    )  # fmt: skip
    if tree:
        examination.use(in_use)
    return replace(ran, text=lint.whole(ran))


def _tool(command: str, ran: CommandRun, broken: str) -> GateResult:
    return GateResult(
        "lint", command, passed=ran.exit.code == 0, exit_code=ran.exit.code, seconds=round(ran.exit.seconds, 3),
        broken=broken, output=ran.shown if ran.exit.code else "", log=str(ran.log),
    )  # fmt: skip
