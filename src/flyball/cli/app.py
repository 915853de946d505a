"""The command line's table of commands, and the handling of unforeseen errors."""

from __future__ import annotations

import sys

import typer

from flyball.cli.commands import (
    agents,
    clean,
    demo,
    dispatch,
    doctor,
    evaluate,
    export,
    history,
    hook,
    init,
    learnings,
    logs,
    mcp,
    monitor,
    notify,
    prompt,
    report,
    serve,
    status,
    tasks,
    trust,
    watch,
    words,
)
from flyball.cli.commands.resume import reopen, resume
from flyball.cli.commands.run import run as run_command
from flyball.cli.support.exits import INTERRUPTED, USAGE, say
from flyball.cli.support.output import settle
from flyball.cli.support.parsing import CommandTable, FreeTextCommand

WORK, LOOK, SPEAK, GO_BACK, SET_UP = "Work", "Look", "Steer a task", "Go back", "Set up"
ALONE, OUT = "Standalone tools", "From other programs"

app = typer.Typer(
    name="flyball",
    cls=CommandTable,
    help="A governor for autonomous coding agents: it measures every turn and decides CONTINUE, DONE or BLOCKED.",
    epilog='Begin with `flyball demo`, then in your project: `flyball init`, `flyball run "…"`. `flyball --version` prints the version.',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, name, command in (
    (WORK, "run", run_command),
    (WORK, "resume", resume),
    (WORK, "reopen", reopen),
    (WORK, "demo", demo.demo),
    (LOOK, "list", tasks.list_tasks),
    (LOOK, "status", status.status),
    (LOOK, "logs", logs.logs),
    (LOOK, "watch", watch.watch),
    (LOOK, "report", report.report),
    (LOOK, "serve", serve.serve),
    (LOOK, "prompt", prompt.prompt),
    (LOOK, "learnings", learnings.learnings),
    (SPEAK, "answer", words.answer),
    (SPEAK, "reset", words.reset),
    (SPEAK, "skip", words.skip),
    (SPEAK, "abort", words.abort),
    (SPEAK, "modify", words.modify),
    (SPEAK, "pause", words.pause),
    (GO_BACK, "checkpoints", history.checkpoints),
    (GO_BACK, "diff", history.diff),
    (GO_BACK, "rollback", history.rollback),
    (GO_BACK, "clean", clean.clean),
    (ALONE, "evaluate", evaluate.evaluate),
    (ALONE, "monitor", monitor.monitor),
    (ALONE, "dispatch", dispatch.dispatch),
    (OUT, "export", export.export),
    (OUT, "hook", hook.hook),
    (OUT, "mcp", mcp.mcp),
    (SET_UP, "init", init.init),
    (SET_UP, "agents", agents.agents),
    (SET_UP, "trust", trust.trust),
    (SET_UP, "notify", notify.notify),
    (SET_UP, "doctor", doctor.doctor),
):
    app.command(name, cls=FreeTextCommand, rich_help_panel=panel)(command)


def run() -> None:
    """Run the command line; every error ends as one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from flyball.wiring.plugins import load_workflows

    load_workflows()
    code = _run()
    settle()
    sys.exit(code)


def _run() -> int:
    try:
        code = app(standalone_mode=False, prog_name="flyball")
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, its traceback is kept
        if hasattr(error, "format_message"):
            return _misused(error)
        from flyball.cli.support.crash import ended

        return ended(error)
    return code if isinstance(code, int) else 0


def _misused(error: Exception) -> int:
    """What was typed is no command of ours: say why, and where to look."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "flyball"
    message = _in_one_line(error.format_message())  # type: ignore[attr-defined]
    if message:
        stop = "" if message.endswith((".", "?", "!")) else "."
        say(f"{message}{stop} See: {command} --help")
    return USAGE


def _in_one_line(message: str) -> str:
    """What the parser says, without its line breaks and the name it has for what is wrong."""
    return " ".join(message.split()).replace(": Value error, ", ": ")
