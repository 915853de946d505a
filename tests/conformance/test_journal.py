"""Both journals pass the suite that ships for authors of others."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.journal_suite import JournalSuite
from tests.journal.memory_journal import MemoryJournal

from flyball.journal.sqlite import SqliteJournal


@pytest.mark.req("C5", "C61", "C63")
class TestSqliteJournal(JournalSuite):
    @pytest.fixture
    def journal(self, tmp_path: Path) -> Iterator[SqliteJournal]:
        with SqliteJournal.open(tmp_path / "home" / "journal.db") as journal:
            yield journal


@pytest.mark.req("C5", "C63")
class TestMemoryJournal(JournalSuite):
    @pytest.fixture
    def journal(self) -> MemoryJournal:
        return MemoryJournal()
