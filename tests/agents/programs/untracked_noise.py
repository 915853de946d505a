"""Honest until GREEN; there it adds a new file each turn that changes nothing in the gate. `--always` does so in every stage."""

import os
import sys
from pathlib import Path

from honest import Report, main  # type: ignore[import-not-found]


def add_noise(prompt: str) -> Report:
    Path(f"notes-{os.environ['FLYBALL_TURN']}.txt").write_text(f"thoughts of turn {os.environ['FLYBALL_TURN']}\n")
    return {"status": "in_progress", "exit_signal": False, "summary": "took notes"}


if "--always" in sys.argv:
    main(every=add_noise)
else:
    main(GREEN=add_noise)
