"""Which lane of a task uses which of its pooled workspaces.

Making a workspace costs as much as checking out the whole tree, and its environment more, so a lane that is closed leaves its workspace to
the next one. Who has which is a file in it, so it is known after a kill.
"""

import os
import threading
from pathlib import Path

from flyball.workspace.files import remove, write_file

UNOPENED = "none"
"""The folder of a lane that has no workspace now; it never exists."""


class Slots:
    """The workspaces below one folder; one controller uses them, from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def assignments(self) -> dict[str, str]:
        """The workspace of each open lane."""
        return {os.fsdecode(file.read_bytes()): file.parent.name for file in sorted(self._folder.glob("*/lane"))}

    def of(self, lane: str) -> str:
        return self.assignments().get(lane, UNOPENED)

    def take(self, lane: str) -> None:
        """Give the lane a workspace of its own: the one it has, else a free one, else a new one."""
        with self._lock:
            bound = self.assignments()
            if lane not in bound:
                numbers = (str(n) for n in range(1, len(bound) + 2))
                slot = self._folder / next(number for number in numbers if number not in bound.values())
                slot.mkdir(parents=True, exist_ok=True)
                write_file(slot / "lane", os.fsencode(lane))

    def leave(self, lane: str) -> None:
        """Let others have it."""
        with self._lock:
            remove(self._folder / self.of(lane) / "lane")
