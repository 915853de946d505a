"""What an agent notes in the course of its turn, in the turn's report file: claims, added to its last word, and no more.

A note is written as a partial report. A report that the agent has written itself is kept; a question is added to it.
"""

import os
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.claims.report_object import MAX_REPORT_BYTES, is_partial
from flyball.documents.errors import DocumentError

MOST_QUESTIONS = 20
LONGEST = 4_000


class TurnNotes(msgspec.Struct, frozen=True):
    report_file: Path
    nonce: str

    def progress(self, summary: str) -> None:
        """Note how far the work is; the last note stands, until the agent reports itself."""
        report = self._read()
        if is_partial(msgspec.json.encode(report)):
            self._write({**report, "summary": summary[:LONGEST]})

    def question(self, text: str, options: tuple[str, ...] = (), default: str = "") -> None:
        """Note a question for a person; asked once, however often it is noted."""
        report = self._read()
        asked = report.get("questions")
        questions = asked if isinstance(asked, list) else []
        new = {
            "text": text[:LONGEST],
            "options": [option[:LONGEST] for option in options],
            "default": default[:LONGEST],
        }
        if new in questions:
            return
        if len(questions) >= MOST_QUESTIONS:
            raise DocumentError(
                f"this turn has asked {MOST_QUESTIONS} questions already; end it, and they will be answered"
            )
        self._write({**report, "questions": [*questions, new]})

    def _read(self) -> dict[str, Any]:
        """The report as it is; one that is missing, broken or of another turn is begun anew."""
        try:
            with self.report_file.open("rb") as file:
                report = msgspec.json.decode(file.read(MAX_REPORT_BYTES))
        except (OSError, ValueError, RecursionError):
            report = None
        if isinstance(report, dict) and report.get("nonce") == self.nonce:
            return report
        return {"nonce": self.nonce, "partial": True, "status": "in_progress"}

    def _write(self, report: dict[str, Any]) -> None:
        fresh = self.report_file.with_name(f".{self.report_file.name}.{os.getpid()}")
        try:
            fresh.write_bytes(msgspec.json.encode(report))
            fresh.replace(self.report_file)
        except OSError as error:
            raise DocumentError(
                f"{self.report_file} cannot be written ({error.strerror}); put it into your report"
            ) from error
