"""Honest, but limited once, with a reset time.

`--state FILE` keeps outside the tree that it has happened; where nothing outside can be written, `--at-turn N` limits turn N alone.
`--seconds S` is how long the limit lasts (default 3); `--stage NAME` is where it strikes (default any, with `--state`).
"""

import argparse
import os
import sys
from pathlib import Path

from honest import main  # type: ignore[import-not-found]

parser = argparse.ArgumentParser()
parser.add_argument("--state", type=Path)
parser.add_argument("--at-turn", type=int, default=0)
parser.add_argument("--stage", default="")
parser.add_argument("--seconds", type=float, default=3.0)
given, _ = parser.parse_known_args()

fresh = given.state is not None and not given.state.exists() and given.stage in ("", os.environ["FLYBALL_STAGE"])
if fresh or int(os.environ["FLYBALL_TURN"]) == given.at_turn:
    if given.state is not None:
        given.state.write_text("limited\n")
    sys.stdin.read()
    print(f"You've hit your usage limit. Try again in {given.seconds:g}s.", file=sys.stderr)
    sys.exit(1)
main()
