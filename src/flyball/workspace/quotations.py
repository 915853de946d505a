"""Whether the lines that a reviewer quotes stand in the trees it was shown, and whether a finding is about what changed between them."""

import os
import re

from flyball.core.text.scrubbing import decode, scrub
from flyball.workspace.differences import KEPT, differences
from flyball.workspace.trees import read_file
from flyball.workspace.vault import Vault

MOST_FILES = 200
NEAR = 3
"""Lines a place may lie beside a changed one: as many as a difference shows around it."""
# A reviewer may copy a line from a difference or a listing, put it in back-ticks, and leave out its middle.
_CUTS = re.compile(r"\.\.\.|…|\n")
_MARKS = re.compile(r"[+-](?![+-])|\d+\s*[:|\t→]")


def pieces(quote: str) -> tuple[str, ...]:
    """The parts of a quotation that say something, with white space folded."""
    plain = (part.strip(" \t`\"'") for part in _CUTS.split(quote))
    parts = (" ".join(part[found.end() if (found := _MARKS.match(part)) else 0 :].split()) for part in plain)
    return tuple(part for part in parts if any(char.isalnum() for char in part))


def stand_in(wanted: tuple[str, ...], text: str) -> bool:
    """Whether all parts stand in one text, however its white space is laid out."""
    folded = " ".join(text.split())
    return all(part in folded for part in wanted)


def is_held(vault: Vault, commit: str, wanted: tuple[str, ...]) -> bool:
    """Whether a file of the commit holds all parts; git looks for the longest word, which no other white space can divide."""
    word = max((word for part in wanted for word in part.split()), key=len)
    found = vault.git().run("grep", "-l", "-z", "-F", "-e", word, commit)
    files = os.fsdecode(found.stdout).split("\0")[:-1] if found.code == 0 else []
    paths = (file.removeprefix(f"{commit}:") for file in files[:MOST_FILES])
    texts = (scrub(decode(read_file(vault, commit, path) or b"")) for path in paths)
    return len(files) > MOST_FILES or any(stand_in(wanted, text) for text in texts)


def is_change(vault: Vault, old: str, new: str, file: str, line: int, wanted: tuple[str, ...]) -> bool:
    """Whether a place is in what changed between two commits: by its line or the lines around it, or by a line that came or went."""
    place = file.removeprefix("./")
    for each in differences(vault, old, new):
        if not (place == each.path or place.endswith(f"/{each.path}") or each.path.endswith(f"/{place}")):
            continue
        whole = not each.spans or len(each.lines) >= KEPT or not (line or wanted)
        near = any(first - NEAR <= line <= last + NEAR for first, last in each.spans)
        if whole or near or (wanted and any(stand_in((part,), "\n".join(each.lines)) for part in wanted)):
            return True
    return False
