"""`flyball dispatch`: the specialised evaluators a track needs, run, and one verdict."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import BLOCKED, exit_on_refusal, say
from flyball.cli.support.output import put, put_json


def dispatch(
    track: Annotated[str, typer.Argument(help="Folder of the track, or its name below conductor/tracks/.")],
    choose: Annotated[
        bool, typer.Option("--choose", help="Name the evaluators and run nothing. Default: run them.")
    ] = False,
    measured_only: Annotated[
        bool,
        typer.Option(
            "--measured-only",
            help="Run only the passes that need no model, and write nothing into the track's folder. Default: run all passes.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate a track: choose its evaluators, run them with the structural checks, and give one verdict.

    Exits with 0 for PASS and 3 for FAIL. Writes evaluation-report.md into the track's folder and updates its metadata.json.
    """
    from flyball.clock import system_clock
    from flyball.config.home import environment
    from flyball.projections.files.evaluation_report import evaluation_data, evaluation_report
    from flyball.wiring.tools.dispatching import choose_evaluators, evaluate_track

    with exit_on_refusal():
        if choose:
            choice = choose_evaluators(track, Path.cwd())
            if as_json:
                put_json({"track": choice.track.folder, "evaluators": choice.chosen})
                return
            for each in choice.chosen:
                put(f"{each.name}: {'; '.join(each.chosen_by)}")
            return
        evaluation = evaluate_track(
            track, Path.cwd(), environment=environment(), measured_only=measured_only, notify=_tell
        )
    if as_json:
        put_json(evaluation_data(evaluation))
    else:
        put(evaluation_report(evaluation, system_clock.now()))
        if not evaluation.incomplete:
            put(f"Next step: {evaluation.next_step}")
    if evaluation.verdict == "FAIL":
        sys.exit(BLOCKED)


def _tell(kind: str, line: str) -> None:
    if kind in ("evaluator", "judges", "command", "waiting"):
        say(f"{kind}: {line}")
