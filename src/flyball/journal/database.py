"""One SQLite file, opened so that a commit is on disk, a vanished file is noticed, and errors say what to do."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from flyball.folders import make_directory
from flyball.journal.errors import JournalCorrupt, JournalGone, JournalNewer, JournalUnwritable

APPLICATION_ID = 0x666C7962

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # No release wrote what came before.
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
    """The number of steps a file has had; a file of another program or of a newer flyball is refused."""
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
    return version


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the newest schema; processes that open it together take turns."""
    while schema_of(connection, path) < len(MIGRATIONS):
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


_WRITING = "mode=rwc"
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_UNREADABLE = "Could not decode to UTF-8"
"""What the sqlite3 module says of a text that is no longer UTF-8; such an error has no code."""
_ADVICE = {
    sqlite3.SQLITE_BUSY: "another program has locked it: close programs that have it open and run the command again",
    sqlite3.SQLITE_FULL: "the disk is full: free some space and run the command again",
    sqlite3.SQLITE_READONLY: "it is read-only: make the file, its folder and its disk writable and run the command again",
    sqlite3.SQLITE_CANTOPEN: "it could not be opened: make its folder exist and writable and run the command again",
    sqlite3.SQLITE_IOERR: "the disk refused: look for a full or failing disk and run the command again",
}


class Database:
    """A connection any thread may use; each call is whole before the next begins."""

    def __init__(self, path: Path, connection: sqlite3.Connection, unwritable: JournalUnwritable | None = None) -> None:
        self.path = path
        self._unwritable = unwritable
        self._connection = connection
        self._turn = threading.RLock()
        # While a connection is open none of its three files can be replaced by rights.
        files = (f"{path}{suffix}" for suffix in ("", "-wal", "-shm"))
        self._opened = {file: _identity(file) for file in files if _identity(file)}

    @classmethod
    def open(cls, path: Path, *, patience_s: float) -> Self:
        """Open or make the file; where it cannot be written it is opened for reading, and writing says why not."""
        _refuse_emptied(path)
        try:
            make_directory(path.parent)
            return cls(path, _connect(path, _WRITING, patience_s))
        except OSError as error:
            raise JournalUnwritable(
                f"The folder {path.parent} for the journal cannot be made ({error.strerror}). Make it yourself, or set FLYBALL_HOME to another."
            ) from error
        except JournalUnwritable as error:
            if not path.exists():
                raise
            return cls(path, _connect_for_reading(path, patience_s), error)

    def close(self) -> None:
        with self._turn, explain_errors(self.path):
            self._connection.close()

    def select(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        with self._turn, explain_errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    @property
    def changes(self) -> int:
        return self._connection.total_changes

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction, durable and still reachable by its name when the block is left without an error."""
        if self._unwritable is not None:
            raise self._unwritable
        with self._turn, explain_errors(self.path):
            self._refuse_gone()
            with transaction(self._connection, "IMMEDIATE"):
                yield self._connection
            self._refuse_gone()

    def _refuse_gone(self) -> None:
        """SQLite goes on writing to a deleted file, and what it writes is lost in silence."""
        if any(_identity(file) != identity for file, identity in self._opened.items()):
            raise JournalGone(
                f"The journal {self.path} was deleted or replaced while in use. "
                "Put the file back (with its -wal file) and run `flyball resume`; what was not acknowledged is not in it."
            )


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says of the world into our errors, with the next thing to do; a wrong statement stays what it is."""
    try:
        yield
    except sqlite3.Error as error:
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if primary in _DAMAGED or _UNREADABLE in str(error):
            raise JournalCorrupt(str(path), str(error)) from error
        if primary in _ADVICE:
            raise JournalUnwritable(
                f"The journal {path} cannot be used ({error}): {_ADVICE[primary]}. What it holds is unharmed."
            ) from error
        raise


def _connect(path: Path, mode: str, patience_s: float) -> sqlite3.Connection:
    with explain_errors(path):
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?{mode}",
            uri=True,
            timeout=patience_s,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            if mode == _WRITING:
                schema_of(connection, path)
                _use_wal(connection, patience_s)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                migrate(connection, path)
            elif schema_of(connection, path) < len(MIGRATIONS):
                raise JournalUnwritable(
                    f"The journal {path} is of an older flyball and read-only. Make it writable and try again."
                )
        except BaseException:
            connection.close()
            raise
        return connection


def _connect_for_reading(path: Path, patience_s: float) -> sqlite3.Connection:
    """SQLite cannot read a WAL database beside which it can make no file, unless told that nobody writes to it."""
    try:
        return _connect(path, "mode=ro", patience_s)
    except JournalUnwritable:
        if _size(f"{path}-wal"):
            raise
        return _connect(path, "immutable=1", patience_s)


def _use_wal(connection: sqlite3.Connection, patience_s: float) -> None:
    """Switching to WAL does not wait for a lock, so processes that make one journal together have to ask again."""
    for _ in range(max(1, int(patience_s / 0.02))):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.02)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")


def _refuse_emptied(path: Path) -> None:
    """An empty file with a write-ahead log was emptied: SQLite would take it for new and delete the log.

    The log is looked at first, because another process that makes the journal now writes the file before the log.
    """
    if _size(f"{path}-wal") and path.exists() and not _size(str(path)):
        raise JournalCorrupt(str(path), "the file is empty, but its write-ahead log is not")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - names that are a path and a suffix
    except OSError:
        return 0


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - names that are a path and a suffix
    except OSError:
        return None
    return status.st_dev, status.st_ino
