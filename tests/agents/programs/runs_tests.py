"""Honest, in a tree where nothing is ignored, and runs the tests by itself, which leaves byte code and caches in the tree."""

import subprocess
import sys
from pathlib import Path

from honest import green, main  # type: ignore[import-not-found]


def working(prompt):
    report = green(prompt)
    Path(".gitignore").unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "pytest", "-q"], check=False, capture_output=True)
    return report


main(GREEN=working)
