"""`flyball evaluate`: what a backlog says, CONTINUE, DONE or BLOCKED, for scripts, hooks and loops of one's own."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import BLOCKED, CONTINUE, DONE, exit_on_refusal
from flyball.cli.support.numbers import whole_number
from flyball.cli.support.output import put, put_json
from flyball.documents.errors import EvaluationInputInvalid

_CODES = {"DONE": DONE, "CONTINUE": CONTINUE, "BLOCKED": BLOCKED}


class BuildResult(StrEnum):
    passed = "pass"
    failed = "fail"
    unknown = "unknown"


class GatesResult(StrEnum):
    met = "met"
    unmet = "unmet"
    unknown = "unknown"


def evaluate(
    root: Annotated[
        Path | None, typer.Option(help="Folder that holds `.work`. Default: this folder or the nearest one above it.")
    ] = None,
    validation: Annotated[
        list[Path] | None,
        typer.Option(help="File with a validator's summary (Markdown) or report (JSON); repeatable. Default: none."),
    ] = None,
    build: Annotated[
        BuildResult, typer.Option(help="Result of the build: pass, fail or unknown. Default: unknown.")
    ] = BuildResult.unknown,
    gates: Annotated[
        GatesResult, typer.Option(help="Quality gates: met, unmet or unknown. Default: unknown.")
    ] = GatesResult.unknown,
    error: Annotated[list[str] | None, typer.Option(help="Error of this session; repeatable. Default: none.")] = None,
    unrecoverable: Annotated[
        bool, typer.Option("--unrecoverable", help="Only a person can resolve the errors. Default: no.")
    ] = False,
    max_cycles: Annotated[
        int | None,
        whole_number("Cycle limit; 0 means no limit. Default: the limit in the state file.", least=0),
    ] = None,
    focus: Annotated[
        str, typer.Option(help="Issue in work. Default: the one in the state file, else in focus.md.")
    ] = "",
    reset: Annotated[
        bool, typer.Option("--reset", help="Clear the counts of failures and idle cycles that block. Default: no.")
    ] = False,
    input: Annotated[
        str,
        typer.Option(
            help="File with the whole situation as one JSON object, or - for stdin; nothing else is read. Default: read .work."
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide, but write nothing. Default: no.")] = False,
    as_json: AsJson = False,
) -> None:
    """Decide CONTINUE, DONE or BLOCKED for the backlog in .work/, exit with 10, 0 or 3, and record the decision first."""
    from flyball.clock import system_clock
    from flyball.core.workflows.backlog.evaluation_text import evaluation_text
    from flyball.wiring.tools.evaluating import evaluate_folder, evaluate_input
    from flyball.wiring.tools.evaluation import Given

    with exit_on_refusal():
        given = Given(
            validations=tuple(validation or ()),
            build=build.value,
            gates=gates.value,
            errors=tuple(error or ()),
            unrecoverable=unrecoverable,
            max_cycles=max_cycles,
            focus=focus,
            reset=reset,
        )
        if input and (given != Given() or root is not None):
            raise EvaluationInputInvalid(
                "--input holds the whole situation; expected no other option but --json and --dry-run. Put the other values into the object."
            )
        if input:
            found = evaluate_input(_read(input), "standard input" if input == "-" else input)
        else:
            found = evaluate_folder(root, given, system_clock, write=not dry_run)
        if as_json:
            put_json(found.evaluation)
        else:
            put(evaluation_text(found.situation, found.evaluation).rstrip("\n"))
    sys.exit(_CODES[found.evaluation.decision])


def _read(name: str) -> bytes:
    from flyball.wiring.tools.evaluating import MAX_INPUT

    if name == "-":
        raw = sys.stdin.buffer.read(MAX_INPUT + 1) if sys.stdin is not None else b""
    else:
        try:
            with Path(name).open("rb") as file:
                raw = file.read(MAX_INPUT + 1)
        except OSError as error:
            raise EvaluationInputInvalid(
                f"{name} cannot be read ({error.strerror}); expected a JSON object."
            ) from error
    if len(raw) > MAX_INPUT:
        raise EvaluationInputInvalid(f"{name} is larger than {MAX_INPUT // 1024 // 1024} MiB; expected a JSON object.")
    return raw
