"""What a reviewer or a check holds against work, and how much of it counts."""

from typing import Literal

import msgspec

from flyball.core.text.scrubbing import one_line

BLOCKING = frozenset({"critical", "major"})
"""The severities of findings that keep work from being accepted."""
_ASIDE = {
    "nowhere": "void: its quotation stands neither in the tree nor in the change",
    "unchanged": "outside what changed since the last look, and not critical",
}


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing wrong with the work, from a reviewer or from a check.

    `stands` is measured: the quotation was found `nowhere`, or the place is `unchanged` since the reviewer looked last.
    """

    severity: Literal["critical", "major", "minor", "suggestion"]
    message: str
    file: str = ""
    line: int = 0
    check: str = ""
    id: str = ""
    quote: str = ""
    shows: str = ""
    criterion: str = ""
    stands: Literal["", "nowhere", "unchanged"] = ""

    @property
    def aside(self) -> str:
        """Why it blocks nothing, however severe; empty where nothing was measured against it."""
        return "" if self.stands == "unchanged" and self.severity == "critical" else _ASIDE.get(self.stands, "")

    @property
    def blocks(self) -> bool:
        return self.severity in BLOCKING and not self.aside

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def told(self) -> str:
        """What an agent is told of it, on one line."""
        parts = (
            f"{self.id} {self.severity}: {self.message}".strip(),
            self.place,
            # What stands nowhere must not be found in the prompt that names it.
            f"quoted: {self.quote}" if self.quote and self.stands != "nowhere" else "",
        )
        return one_line("; ".join(filter(None, (*parts, self.shows and f"shown by: {self.shows}"))))

    def repeats(self, earlier: "Finding") -> bool:
        """Whether it says again what an earlier one said: by its id, or at the same place in the same words or of the same line."""
        same = self.message == earlier.message or bool(self.quote and self.quote.split() == earlier.quote.split())
        return (self.id != "" and self.id == earlier.id) or (
            self.file == earlier.file and (same or 0 < self.line == earlier.line)
        )
