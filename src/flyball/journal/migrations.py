"""The SQLite schema as numbered steps, each one transaction; a step once released is never edited."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flyball.journal.errors import JournalCorrupt, JournalNewer, JournalOlder

APPLICATION_ID = 0x666C7962

OLDEST = 2
"""Facts of schema 1 knew no lanes; no release wrote them, and nothing reads them any more."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (),
    (
        """CREATE TABLE tasks (
            id TEXT NOT NULL PRIMARY KEY,
            number INTEGER NOT NULL UNIQUE,
            workflow TEXT NOT NULL,
            title TEXT NOT NULL,
            opened_at TEXT NOT NULL
        )""",
        """CREATE TABLE events (
            task TEXT NOT NULL REFERENCES tasks (id),
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            kind TEXT NOT NULL,
            effect TEXT,
            attempt INTEGER,
            body TEXT NOT NULL,
            crc INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID""",
        """CREATE TABLE inbox (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            task TEXT NOT NULL REFERENCES tasks (id),
            word TEXT NOT NULL,
            text TEXT NOT NULL,
            question TEXT NOT NULL,
            at TEXT NOT NULL,
            taken_seq INTEGER
        )""",
        "CREATE INDEX inbox_pending ON inbox (task, id) WHERE taken_seq IS NULL",
        """CREATE TABLE leases (
            scope TEXT NOT NULL PRIMARY KEY,
            epoch INTEGER NOT NULL,
            holder TEXT NOT NULL,
            taken_at TEXT NOT NULL
        )""",
    ),
)


def schema_of(connection: sqlite3.Connection, path: Path) -> int:
    """The number of steps a file has had; a file of another program, of a newer flyball or of one before the first release is refused."""
    # All of one instant: another process may be migrating.
    queries = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    with transaction(connection, "DEFERRED"):
        application, version, tables = (int(connection.execute(query).fetchone()[0]) for query in queries)
    if application != APPLICATION_ID and (application or version or tables):
        raise JournalCorrupt(str(path), "it is a database of another program")
    if version > len(MIGRATIONS):
        raise JournalNewer(
            f"The journal {path} was written by a newer flyball (schema {version}; this one knows {len(MIGRATIONS)}). "
            "Install that version and try again; nothing was changed."
        )
    if tables and version < OLDEST:
        raise JournalOlder(
            f"The journal {path} was written by a flyball from before its first release (schema {version}), which this one cannot read. "
            f"Move it away to start again: mv {path} {path}.old"
        )
    return version


def is_current(connection: sqlite3.Connection, path: Path) -> bool:
    return schema_of(connection, path) == len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the newest schema; processes that open it together take turns."""
    while not is_current(connection, path):
        with transaction(connection, "IMMEDIATE"):
            version = schema_of(connection, path)
            if version < len(MIGRATIONS):
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version + 1}")


@contextmanager
def transaction(connection: sqlite3.Connection, mode: str) -> Iterator[None]:
    """All of it or nothing; inside another transaction, part of that one."""
    if connection.in_transaction:
        yield
        return
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: sqlite3.Connection) -> None:
    """SQLite has rolled back by itself after some errors, a full disk among them."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
