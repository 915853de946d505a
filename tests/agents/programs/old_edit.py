"""Leaves one useless edit of an accepted file lying about in its first turn, and changes nothing ever after."""

import sys
from pathlib import Path

sys.stdin.read()
readme = Path("README.md")
if "old edit" not in readme.read_text():
    readme.write_text(readme.read_text() + "\nan old edit\n")
