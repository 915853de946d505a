"""What an issue's body says: its problem, its acceptance criteria and the files it names."""

from __future__ import annotations

import re

_HEADING = r"#{1,6}[ \t]+(.*?)[ \t#:]*"
_BULLET = r"[ \t]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+(?:\[[ xX~!-]\][ \t]+)?(\S.*)"
_PATH = r"`([^`\s]+)`"


class Sections:
    """A body by its headings; sections are known by name, whatever their rank."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._sections: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in text.split("\n"):
            heading = re.fullmatch(_HEADING, line) if line.startswith("#") else None
            if heading is None:
                lines.append(line)
            else:
                lines = self._sections.setdefault(heading[1].strip("*_ ").casefold(), [])

    @property
    def problem(self) -> str:
        return "\n".join(self._lines("problem", "description")).strip()

    @property
    def acceptance(self) -> tuple[str, ...]:
        lines = self._lines("acceptance criteria", "acceptance", "success criteria")
        return tuple(found[1].strip() for line in lines if (found := re.fullmatch(_BULLET, line)))

    @property
    def files(self) -> tuple[str, ...]:
        """Paths listed under `Affected Files`: what stands in back-quotes, else the first word of a bullet."""
        found = []
        for line in self._lines("affected files", "files"):
            bullet = re.fullmatch(_BULLET, line)
            if bullet is not None:
                quoted = re.search(_PATH, bullet[1])
                found.append(quoted[1] if quoted else bullet[1].split()[0].strip("`,;"))
        return tuple(dict.fromkeys(found))

    def _lines(self, *names: str) -> list[str]:
        return next((self._sections[name] for name in names if name in self._sections), [])
