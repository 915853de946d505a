"""`flyball doctor`: checks what a loop stands on, and says how to mend it."""

import sys
from pathlib import Path

from flyball.cli.support.arguments import AsJson
from flyball.cli.support.exits import DONE, NO_AGENT, USAGE, exit_on_refusal
from flyball.cli.support.output import put, put_json


def doctor(as_json: AsJson = False) -> None:
    """Check git, sandbox, clock, disk, journal, configuration, gates and agents; name a fix for each problem."""
    from flyball.core.text.scrubbing import scrub
    from flyball.wiring.tools.checkup import checkup

    with exit_on_refusal():
        found = []
        for check in checkup(Path.cwd()):
            found.append(check)
            if not as_json:
                put(f"{check.level:<4}  {check.name}: {scrub(check.says)}")
                if check.fix:
                    put(f"      fix: {scrub(check.fix)}")
        if as_json:
            put_json(found)
        failed = [check.name.partition(" ")[0] for check in found if check.level == "fail"]
        sys.exit(DONE if not failed else NO_AGENT if set(failed) == {"agent"} else USAGE)
