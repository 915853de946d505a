"""`flyball check`: runs the gates once on the files as they are, and prints what is counted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flyball.cli.commands.init import measured_data, measured_lines, name_commands
from flyball.cli.support import flags
from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import BLOCKED, DONE, USAGE, exit_on_refusal
from flyball.cli.support.output import put, put_json
from flyball.core.text.scrubbing import scrub

if TYPE_CHECKING:
    from flyball.config.settings import RunFlags

FAILURES_SHOWN = 20


@flags.takes("gates", "setup", "sandbox")
def check(*, typed: RunFlags, as_json: AsJson = False) -> None:
    """Run the gates on your files as they are, uncommitted changes included, as a task would; print what is counted."""
    from msgspec.structs import replace

    from flyball.config import file as config_file, trust
    from flyball.config.home import environment
    from flyball.config.settings import gate_settings
    from flyball.wiring.site import Site
    from flyball.wiring.tools.proposing import try_gates
    from flyball.workspace.sandbox import Unavailable, available

    with exit_on_refusal():
        site = Site.find(Path.cwd())
        file = config_file.read(site.repository.root)
        settings = gate_settings(file, typed)
        trust.require(site.home, file, typed)
        if isinstance(available(), Unavailable):
            # No agent works here: these are the user's own commands on the user's own files.
            settings = replace(settings, sandbox="none")
        notify = name_commands(quiet=as_json)
        found = try_gates(site, settings, environment=environment(), notify=notify, uncommitted=True)
        passed = all(gate.passed for gate in found.gates) and not found.known
        if as_json:
            put_json({"passed": passed, **measured_data(found), "failing": found.known})
        else:
            put("\n".join(measured_lines(found)))
            why = {failure.test: f": {failure.message}" for failure in found.failures}
            for test in found.known[:FAILURES_SHOWN]:
                put(scrub(f"failed: {test}{why.get(test, '')}"))
            if len(found.known) > FAILURES_SHOWN:
                put(f"and {len(found.known) - FAILURES_SHOWN} more; flyball check --json names them")
        sys.exit(USAGE if found.broken else DONE if passed else BLOCKED)
