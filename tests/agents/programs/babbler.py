"""Honest, but prints a gigabyte first; `--bytes N` prints that much, `--at-turn N` in turn N alone."""

import os
import sys

from honest import main  # type: ignore[import-not-found]

left = int(sys.argv[sys.argv.index("--bytes") + 1]) if "--bytes" in sys.argv else 1024**3
if "--at-turn" in sys.argv and os.environ["FLYBALL_TURN"] != sys.argv[sys.argv.index("--at-turn") + 1]:
    left = 0
block = b"thinking about it, thinking about it, thinking about it again\n" * 1024
while left > 0:
    left -= sys.stdout.buffer.write(block[:left])
sys.stdout.flush()
main()
