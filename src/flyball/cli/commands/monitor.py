"""`flyball monitor`: whether a loop goes anywhere, one batch at a time, or each iteration as it comes."""

import io
import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import BLOCKED, DONE, USAGE, exit_on_refusal, say
from flyball.cli.support.output import put, put_json
from flyball.core.advice.batch import BatchResult
from flyball.core.advice.batch_text import BatchUnreadable, batch_of
from flyball.core.advice.stream import StreamObservation, advise
from flyball.core.health.history import History
from flyball.core.health.verdict import Health
from flyball.core.text.strict_json import JsonUnreadable, read_json

LONGEST_BATCH = 64 * 1024 * 1024
LONGEST_LINE = 16 * 1024 * 1024


def monitor(
    task: Annotated[
        str, typer.Argument(help="Name of the loop whose history the batch belongs to. Required, except with --stream.")
    ] = "",
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Answer each line of JSON on stdin at once, and keep nothing. Default: read one batch."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge whether a loop makes progress: read a batch result from stdin, keep its history, and exit 0 on progress, else 3."""
    with exit_on_refusal():
        if bool(task) == stream:
            say(
                "monitor takes the name of a loop and a batch result on stdin, or --stream. See: flyball monitor --help"
            )
            sys.exit(USAGE)
        sys.exit(_advise_on_lines() if stream else _judge_batch(task, as_json=as_json))


def _judge_batch(name: str, *, as_json: bool) -> int:
    from flyball.projections.files.batch_state import answer
    from flyball.projections.files.loop_state import verdict_lines
    from flyball.wiring.tools.monitoring import Loops

    reported = _batch()
    if reported is None:
        return USAGE
    said = Loops.find(Path.cwd()).report(name, reported)
    for note in said.notes:
        say(note)
    if as_json:
        put_json(answer(said.verdict, said.iteration))
    else:
        put(verdict_lines(said.verdict).rstrip("\n"))
    return DONE if said.verdict.health is Health.PROGRESSING else BLOCKED


def _batch() -> BatchResult | None:
    raw = _input().read(LONGEST_BATCH + 1)
    if len(raw) > LONGEST_BATCH:
        say(f"standard input: expected a batch result of at most {LONGEST_BATCH} bytes, found more.")
        return None
    try:
        return batch_of(raw)
    except BatchUnreadable as error:
        say(f"standard input: {error}.")
        return None


def _advise_on_lines() -> int:
    """Advice on each line until the input ends; the history lives in this process alone."""
    from flyball.wiring.tools.monitoring import thresholds_in

    thresholds, history = thresholds_in(Path.cwd()), History()
    lines, number = _input(), 0
    while (raw := lines.readline(LONGEST_LINE + 1)) != b"":
        number += 1
        line = _observation(raw, lines, number)
        if line is not None:
            history, advice = advise(history, line, thresholds)
            put_json(advice)
    return DONE


def _observation(raw: bytes, lines: BinaryIO, number: int) -> StreamObservation | None:
    """What a line says; a line that says nothing usable is answered here."""
    if len(raw) > LONGEST_LINE:
        while raw and not raw.endswith(b"\n"):
            raw = lines.readline(LONGEST_LINE)
        put_json({"error": f"line {number}: expected at most {LONGEST_LINE} bytes, found more"})
        return None
    try:
        return read_json(raw, StreamObservation)
    except JsonUnreadable as error:
        put_json({"error": f"line {number}: expected an observation as a JSON object on one line: {error}"})
        return None


def _input() -> BinaryIO:
    """Standard input as bytes; a closed one has none."""
    return sys.stdin.buffer if sys.stdin is not None else io.BytesIO()
