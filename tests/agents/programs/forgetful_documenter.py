"""Honest, but names the feature in the README only when told to; with `--never` not even then. A reviewer of it rejects a document once."""

import sys
from pathlib import Path

from honest import document, finished, main, qa  # type: ignore[import-not-found]

SEEN = Path(sys.argv[sys.argv.index("--seen") + 1]) if "--seen" in sys.argv else None


def forget(prompt):
    before = Path("README.md").read_text()
    said = document(prompt)
    if "--never" in sys.argv or "does not mention the feature" not in prompt:
        Path("README.md").write_text(before)
        Path("docs/use.md").write_text("# Use\n\nCall its functions.\n")
    return said


def reject_once(prompt):
    if SEEN is None or SEEN.exists():
        return qa(prompt)
    SEEN.touch()
    finding = {"severity": "major", "message": "the example is wrong", "file": "docs/use.md", "line": 3}
    return {**finished("read it"), "verdict": "fail", "findings": [finding]}


main(DOCUMENT=forget, QA=reject_once)
