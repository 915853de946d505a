"""Events to and from JSON text with a checksum, the same for every journal.

A body is the whole event, so the checksum covers its place, time and epoch too, and reading needs no other column.
The checksum starts from the task's name: a body moved to another task does not match.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple
from zlib import crc32

import msgspec

from flyball.core.model.events import Begun, Ended, Event, Fact, PersonSpoke, Spoken
from flyball.core.model.task import TaskId
from flyball.core.text.hiding import hide_in
from flyball.core.vocabulary import event_type
from flyball.journal.errors import JournalCorrupt, JournalError, JournalNewer
from flyball.journal.records import in_utc

_encoder = msgspec.json.Encoder()


@cache
def _decoder() -> msgspec.json.Decoder[Event]:
    """Made when it is first needed: workflows of other packages have told their facts by then."""
    return msgspec.json.Decoder(event_type())


class StoredEvent(NamedTuple):
    """An event ready to be stored; all but `body` and `crc` are there for people who look."""

    seq: int
    at: str
    epoch: int
    kind: str
    effect: str | None
    attempt: int | None
    body: str
    crc: int


def encode(
    task: TaskId, facts: Sequence[Fact], *, after: int, epoch: int, at: datetime, secrets: tuple[str, ...] = ()
) -> tuple[list[StoredEvent], list[Event]]:
    """Entries for facts that follow event `after`, and the events exactly as a reader will see them: without secrets."""
    moment = in_utc(at)
    entries: list[StoredEvent] = []
    events: list[Event] = []
    for seq, fact in enumerate(facts, after + 1):
        body, event = _encode_one(Event(seq, moment, epoch, fact), secrets)
        effect, attempt = _performance(fact)
        crc = crc32(body, _salt(task))
        entries.append(StoredEvent(seq, moment.isoformat(), epoch, kind(fact), effect, attempt, body.decode(), crc))
        events.append(event)
    return entries, events


def decode(journal: str, task: TaskId, rows: Iterable[tuple[bytes, int]], *, after: int) -> Iterator[Event]:
    """The events of rows of body and checksum that must follow event `after` without a gap."""
    return decode_some(journal, task, ((seq, body, crc) for seq, (body, crc) in enumerate(rows, after + 1)))


def decode_some(journal: str, task: TaskId, rows: Iterable[tuple[int, bytes, int]]) -> Iterator[Event]:
    """The events of rows of place, body and checksum, between which others may stand."""
    salt = _salt(task)
    for seq, body, crc in rows:
        yield _decode_one(journal, task, seq, body, crc, salt)


def _decode_one(journal: str, task: TaskId, seq: int, body: bytes, crc: int, salt: int) -> Event:
    if crc32(body, salt) != crc:
        raise JournalCorrupt(journal, f"event {seq} of task {task} does not match its checksum", task=task, seq=seq)
    try:
        event = _decoder().decode(body)
    except msgspec.ValidationError as error:
        raise _newer(journal, task, seq, body, error) from error
    except msgspec.DecodeError as error:
        problem = f"event {seq} of task {task} is not JSON ({error})"
        raise JournalCorrupt(journal, problem, task=task, seq=seq) from error
    if event.seq != seq:
        problem = f"task {task} has event {event.seq} where event {seq} was expected"
        raise JournalCorrupt(journal, problem, task=task, seq=seq)
    return event


def words_taken(events: Sequence[Event], taking: Sequence[int]) -> dict[int, int]:
    """The seq at which each word of the inbox reached its task; every word taken must be spoken, and the other way round."""
    spoken = {
        event.fact.inbox: event.seq for event in events if isinstance(event.fact, PersonSpoke) and event.fact.inbox
    }
    if sorted(spoken) != sorted(taking):
        raise ValueError(
            f"The words taken {sorted(taking)} are not the words spoken {sorted(spoken)}: one would be lost or doubled."
        )
    return spoken


def stale_message(task: TaskId, epoch: int, current: int) -> str:
    return (
        f"Task {task} was taken over by another process (epoch {current}; this one has {epoch}). "
        "Nothing was appended; this process must end."
    )


def kind(fact: Fact) -> str:
    return str(fact.__struct_config__.tag)


def check_word(word: Spoken, text: str, question: str) -> None:
    try:
        msgspec.convert({"fact": "person.spoke", "word": word, "text": text, "question": question}, PersonSpoke)
        text.encode()
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise JournalError(f"This cannot be passed on to the task: {error}.") from error


def _encode_one(event: Event, secrets: tuple[str, ...]) -> tuple[bytes, Event]:
    """A body, and what it says when read: constructors check nothing, and an unreadable fact would end its task for ever."""
    try:
        body = _encoder.encode(event)
        if secrets and (hidden := hide_in(said := msgspec.json.decode(body), secrets)) != said:
            body = _encoder.encode(hidden)
        return body, _decoder().decode(body)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise JournalError(f"The fact {kind(event.fact)} cannot be stored: {error}. Nothing was written.") from error


def _salt(task: TaskId) -> int:
    return crc32(task.encode())


def _performance(fact: Fact) -> tuple[str | None, int | None]:
    if isinstance(fact, Begun):
        return fact.effect.id, fact.effect.attempt
    if isinstance(fact, Ended):
        return fact.id, fact.attempt
    return None, None


def _newer(journal: str, task: TaskId, seq: int, body: bytes, error: msgspec.ValidationError) -> JournalNewer:
    """The checksum held, so the body is what a flyball wrote: one that knows facts this one does not."""
    stored = msgspec.json.decode(body)
    fact = stored.get("fact") if isinstance(stored, dict) else None
    name = fact.get("fact") if isinstance(fact, dict) else None
    return JournalNewer(
        f"Event {seq} of task {task} in {journal} ({name or 'no fact'}) was written by a newer flyball: {error}. "
        "Install that version and try again; nothing was changed."
    )
