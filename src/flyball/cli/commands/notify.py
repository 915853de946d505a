"""`flyball notify`: whom flyball would tell, and whether that works."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flyball.cli.support.exits import USAGE, exit_on_refusal
from flyball.cli.support.output import put

NOBODY = """\
flyball notifies nobody: flyball.toml has no [notify]. Add it, for example:

  [notify]
  targets = ["ntfy://my-topic"]     # or mailto://, slack://, tgram://, json://: services of Apprise; env:NAME takes it from a variable
  command = ["notify-send", "flyball"]
  quiet_hours = "22:00-07:00"

Then type: flyball trust && flyball notify --test"""


def notify(
    test: Annotated[
        bool,
        typer.Option(
            "--test", help="Send a test message to every target and print each result. Default: only list the targets."
        ),
    ] = False,
    held: Annotated[
        bool,
        typer.Option(
            "--held",
            help="Wait in the background until the quiet hours end, then send what was held and is not settled; flyball starts this itself. Default: no.",
        ),
    ] = False,
) -> None:
    """List the targets that flyball notifies when it needs you, when a task ends, and about long waits; --test tries them."""
    from flyball.config import file as config_file, trust
    from flyball.projections.pages.notices import Notice
    from flyball.wiring.run.notifying import from_table, sends_of, try_send
    from flyball.wiring.site import Site

    with exit_on_refusal():
        if held:
            _wait()
            return
        site = Site.find(Path.cwd())
        file = config_file.read(site.repository.root)
        trust.require(site.home, file)
        settings = from_table(file.notify) if file is not None else None
        if settings is None or not (settings.targets or settings.command):
            put(NOBODY)
            return
        names = [*([settings.command[0]] if settings.command else []), *map(_without_secret, settings.targets)]
        if not test:
            put("\n".join(names))
            put(f"quiet hours: {settings.quiet_hours or 'none'}. Try them with: flyball notify --test")
            return
        notice = Notice(
            "needed", "test", "flyball: a test", "Somebody typed flyball notify --test.", "flyball status", "/"
        )
        problems = [try_send(send, notice, wait_s=0.2) for send in sends_of(settings, site.home.home)]
        for name, problem in zip(names, problems, strict=True):
            put(f"{name}: {problem or 'sent'}")
        sys.exit(USAGE if any(problems) else 0)


def _wait() -> None:
    """Behind a front that ends at once, so that whoever started this need not wait."""
    from flyball.process import step_behind
    from flyball.wiring.run.held_notices import tell_held
    from flyball.wiring.site import Site

    front = step_behind(lambda _killed: None)
    site = Site.find(Path.cwd())
    front.let_go(site.home.folder / "notify.log", lambda: None)
    tell_held(site)


def _without_secret(target: str) -> str:
    """A target without what may be a secret in it."""
    return target if target.startswith("env:") else f"{target.partition('://')[0]}://…"
