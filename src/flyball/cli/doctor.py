"""`flyball doctor`: checks what a loop stands on, and says how to mend it."""

from __future__ import annotations

import sys
from pathlib import Path

from flyball.cli.arguments import AsJson
from flyball.cli.exits import DONE, USAGE, told
from flyball.cli.output import put, put_json


def doctor(as_json: AsJson = False) -> None:
    """Check git, sandbox, clock, disk, journal, configuration, gates and the agents it names."""
    from flyball.core.text import scrub
    from flyball.wiring.checkup import checkup

    with told():
        failed = False
        found = []
        for check in checkup(Path.cwd()):
            failed |= check.level == "fail"
            found.append(check)
            if not as_json:
                put(f"{check.level:<4}  {check.name}: {scrub(check.says)}")
                if check.fix:
                    put(f"      fix: {scrub(check.fix)}")
        if as_json:
            put_json(found)
        sys.exit(USAGE if failed else DONE)
