"""The command line's table of commands, and the handling of unforeseen errors."""

import os
import re
import sys
import traceback
from errno import EACCES, EDQUOT, EFBIG, EIO, EMFILE, ENAMETOOLONG, ENFILE, ENOSPC, ENXIO, EPERM, EROFS, ESTALE
from pathlib import Path

import typer

from flyball.cli.commands import (
    agents,
    check,
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
    merge,
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
from flyball.cli.commands.run import reopen, resume, run as run_command
from flyball.cli.support.exits import INTERNAL, INTERRUPTED, USAGE, say
from flyball.cli.support.output import settle, tell
from flyball.cli.support.parsing import CommandTable, FreeTextCommand

WORK, LOOK, SPEAK, GO_BACK, SET_UP = "Work", "Look", "Steer a task", "Go back", "Set up"
ALONE, OUT = "Standalone tools", "From other programs"
_WORLD = frozenset({EACCES, EDQUOT, EFBIG, EIO, EMFILE, ENAMETOOLONG, ENFILE, ENOSPC, ENXIO, EPERM, EROFS, ESTALE})
"""What a system refuses whatever the program: a full disk, a folder nobody may write to."""

_MISFIT = re.compile(r"^Invalid value for '(-[^']+)'(?: / '[^']+')*: ")

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
    (WORK, "merge", merge.merge),
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
    (SET_UP, "check", check.check),
    (SET_UP, "agents", agents.agents),
    (SET_UP, "trust", trust.trust),
    (SET_UP, "notify", notify.notify),
    (SET_UP, "doctor", doctor.doctor),
):
    app.command(name, cls=FreeTextCommand, rich_help_panel=panel)(command)


def run() -> None:
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
        return report_misuse(error) if hasattr(error, "format_message") else report_crash(error)
    return code if isinstance(code, int) else 0


def report_misuse(error: Exception) -> int:
    """What was typed is no command of ours: say why, and where to look."""
    context = getattr(error, "ctx", None)
    known = [each.name for each in app.registered_commands if each.name in sys.argv[1:2]]
    command = context.command_path if context is not None else " ".join(["flyball", *filter(None, known)])
    # In one line, and without the parser's name for what is wrong.
    message = " ".join(error.format_message().split()).replace(": Value error, ", ": ")  # type: ignore[attr-defined]
    message = _MISFIT.sub(r"\1: ", message)
    arguments = [each.name for each in context.command.params if each.param_type_name == "argument"] if context else []
    if (
        arguments
        and message.startswith("Got unexpected extra argument")
        and not any(word.startswith("-") for word in sys.argv[2:])
    ):
        what = ("the request", "what is to be done") if arguments == ["request"] else ("several words", "…")
        message = f'Put {what[0]} in quotes: {command} "{what[1]}"'
    if message:
        stop = "" if message.endswith((".", "?", "!")) else "."
        say(f"{message}{stop} See: {command} --help")
    return USAGE


def report_crash(error: BaseException) -> int:
    """Keep the traceback, say one sentence, give the exit code; what the system refuses is no error of ours."""
    if isinstance(error, OSError) and error.errno in _WORLD:
        where = f"{error.filename}: " if isinstance(error.filename, str | os.PathLike) else ""
        say(f"{where}{error.strerror}. The journal is safe. Fix this and try again.")
        return INTERNAL
    text = "".join(traceback.format_exception(error))
    kept = _keep_traceback(text)
    name = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    if kept is None:
        tell(text)
        say(f"internal error: {name}. The journal is safe; continue with: flyball resume")
    else:
        say(f"internal error: {name}. The traceback is in {kept}. Continue with: flyball resume")
    return INTERNAL


def _keep_traceback(text: str) -> Path | None:
    from flyball.clock import system_clock
    from flyball.config.errors import ConfigError
    from flyball.config.home import home_folder

    try:
        home = home_folder()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = home / f"crash-{system_clock.now():%Y%m%d-%H%M%S-%f}.txt"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, ConfigError):
        return None
    return path
