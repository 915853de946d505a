"""The options of `run` and `resume` that are settings: each is declared once, under the name of its field in `RunFlags`."""

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_type_hints

import typer

from flyball.cli.support.numbers import NO_LIMIT, amount, whole_number
from flyball.cli.support.parsing import ANY_WORKFLOW
from flyball.core.workflows.registry import DEFAULT, for_issues, for_plans, for_tracks, without_review


def _limit(help_: str) -> Any:
    return Annotated[int | None, whole_number(help_, otherwise=NO_LIMIT)]


def _text(help_: str, metavar: str) -> Any:
    return Annotated[str | None, typer.Option(help=help_, metavar=metavar)]


SETTINGS: dict[str, Any] = {
    "workflow": _text(
        f"Workflow: {ANY_WORKFLOW}. Default: {DEFAULT}; with --from a plan of another tool: {for_plans()}, a .work folder: {for_issues()}, a track's folder: {for_tracks()}.",
        "NAME",
    ),
    "agent": _text(
        "Agent to drive: a name in flyball.toml, or one of `flyball agents`. Default: as flyball.toml says.", "NAME"
    ),
    "agent_command": _text("Drive this program as the agent. Default: none.", "'PROG ARG …'"),
    "model": _text("Model of the agent. Default: the agent's own.", "NAME"),
    "gates": Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            metavar="NAME=COMMAND",
            help="Gate to measure with; repeatable. {junit} in COMMAND is the report's path. Default: the gates of flyball.toml.",
        ),
    ],
    "may_change": Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Protected files the work may change, such as 'tests/**'; repeatable. Default: those the request names.",
        ),
    ],
    "setup": _text(
        "Command that installs what the tests need, run in each tree a task works or measures in. Default: none.",
        "COMMAND",
    ),
    "attended": Annotated[
        bool | None,
        typer.Option(
            "--attended/--unattended",
            help="Ask a person, or take each question's default. Default: attended on a terminal.",
        ),
    ],
    "sandbox": _text(
        "Sandbox: auto, bwrap or none. Default: auto (bwrap; where bwrap does not work, an attended run warns and continues, an unattended run refuses).",
        "KIND",
    ),
    "merge": Annotated[
        bool | None,
        typer.Option(
            "--merge/--no-merge",
            help="Merge the branch of a DONE task into the branch that is checked out, as `flyball merge` does. Default: no.",
        ),
    ],
    "parallel": Annotated[
        int | None,
        whole_number(
            "Work on at most this many subtasks at once, and ask at most this many reviewers of one tree at once."
            " Default: two subtasks, all reviewers."
        ),
    ],
    "max_iterations": _limit("Stop after this many iterations. Default: no limit."),
    "max_cycles": _limit("Stop after this many issues (backlog). Default: no limit."),
    "max_turns": _limit("Stop after this many turns. Default: no limit."),
    "max_hours": Annotated[float | None, amount("Stop after this many hours (8, 0.5). Default: no limit.", "HOURS")],
    "budget_usd": Annotated[
        float | None, amount("Stop before the turn that would spend more (5, 2.50). Default: no limit.", "USD")
    ],
    "budget_tokens": _limit("Stop before the turn that would use more tokens. Default: no limit."),
    "turn_timeout": _text("Kill a turn after this long (90, 30m, 2h). Default: 1h.", "TIME"),
    "idle_timeout": _text(
        "Kill a turn after this long without output (90, 15m; 0 for never). Default: 15m.",
        "TIME",
    ),
    "approve_plan": Annotated[
        bool | None,
        typer.Option(
            "--approve-plan",
            help="Ask you about the plan, or about the criteria in the document, before work begins. Default: no.",
        ),
    ],
    "failing": _text(
        "What tests are that fail before any work: work (it is not done while one of them fails) or known."
        " Default: what the request says; else an attended run asks, and for an unattended run they are known.",
        "WORD",
    ),
    "review": _text(
        f"When another model reviews the work ({', '.join(without_review())}): always, auto (not where the change is small, a new test fails without it and"
        " nothing in it is remarked on) or never; the report says that nobody did. Default: always.",
        "WHEN",
    ),
    "optional": Annotated[
        bool | None,
        typer.Option("--optional", help="Work on the optional entries of an imported plan as well. Default: no."),
    ],
    "measure_again": Annotated[
        bool | None,
        typer.Option(
            "--measure-again",
            help="Measure also what was measured before on the same tree, gates and environment. Default: reuse that.",
        ),
    ],
}
AT_RESUME = (
    *("attended", "may_change", "max_iterations", "max_cycles", "max_turns", "max_hours"),
    *("budget_usd", "budget_tokens", "turn_timeout", "idle_timeout"),
)
"""What may be typed anew for a task that is open already."""

Detach = Annotated[
    bool,
    typer.Option(
        "--detach",
        help="Run in the background, even after this terminal closes; print how to follow and stop it. Default: no.",
    ),
]
JsonEvents = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON event per line, and the status as the last line. Default: text."),
]


def takes(*names: str, default: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these settings as options; it receives them together, as `typed`.

    `default` is what stands in for every setting that is not typed, where it is not the setting's own default.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        types = get_type_hints(command, localns={"RunFlags": object}, include_extras=True)
        settings = [_option(name, default) for name in names]
        parameters: list[inspect.Parameter] = []
        for name, own in inspect.signature(command).parameters.items():
            parameters += settings if name == "typed" else [own.replace(annotation=types[name])]

        @functools.wraps(command)
        def taking(**values: Any) -> None:
            from flyball.config.settings import RunFlags

            given = {name: values.pop(name) for name in names}
            for name in ("gates", "may_change"):
                if name in given:
                    given[name] = tuple(given[name] or ())
            command(**values, typed=RunFlags(**given))

        taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {p.name: p.annotation for p in parameters}
        return taking

    return decorate


def _option(name: str, default: str) -> inspect.Parameter:
    declared = SETTINGS[name]
    if default:
        kind, info = get_args(declared)
        info = copy.copy(info)
        info.help = f"{info.help.partition('Default: ')[0]}Default: {default}."
        declared = Annotated[kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=declared)
