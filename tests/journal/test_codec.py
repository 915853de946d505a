from zlib import crc32

import msgspec
import pytest
from tests.conformance.journal_suite import AT, MOVED

from flyball.core.model.effects import Wait
from flyball.core.model.events import Begun, Ended, Moved
from flyball.core.model.outcomes import Waited
from flyball.core.model.task import EffectId, TaskId
from flyball.journal import codec
from flyball.journal.errors import JournalCorrupt, JournalNewer

TASK = TaskId("001-x")
SALT = crc32(b"001-x")


def row(body: bytes) -> tuple[bytes, int]:
    return body, crc32(body, SALT)


def test_a_body_is_json_that_any_tool_can_read_and_holds_the_whole_event() -> None:
    (entry,), _ = codec.encode(TASK, [Moved("GREEN", "RED", "why")], after=6, epoch=2, at=AT)
    assert entry.body == (
        '{"seq":7,"at":"2026-01-05T09:00:00.123456Z","epoch":2,'
        '"fact":{"fact":"stage.moved","stage":"GREEN","previous":"RED","reason":"why"}}'
    )
    assert (entry.seq, entry.kind, entry.effect, entry.attempt) == (7, "stage.moved", None, None)


def test_what_is_performed_can_be_looked_up_by_effect_and_attempt() -> None:
    wait = Wait(EffectId("wait/3"), AT, "limit")
    entries, _ = codec.encode(
        TASK, [Begun(msgspec.structs.replace(wait, attempt=2)), Ended(wait.id, Waited(), 2)], after=0, epoch=1, at=AT
    )
    assert [(entry.kind, entry.effect, entry.attempt) for entry in entries] == [
        ("effect.begun", "wait/3", 2),
        ("effect.ended", "wait/3", 2),
    ]


@pytest.mark.req("C62")
@pytest.mark.parametrize("position", range(0, 120, 7))
def test_any_changed_byte_is_noticed_and_named(position: int) -> None:
    (entry,), _ = codec.encode(TASK, [MOVED], after=0, epoch=1, at=AT)
    damaged = bytearray(entry.body.encode())
    damaged[position] ^= 1
    with pytest.raises(JournalCorrupt, match="event 1 of task 001-x") as caught:
        list(codec.decode("j.db", TASK, [(bytes(damaged), entry.crc)], after=0))
    assert (caught.value.task, caught.value.seq) == ("001-x", 1)


@pytest.mark.req("C62")
def test_a_body_of_another_task_or_place_is_noticed() -> None:
    (entry,), _ = codec.encode(TASK, [MOVED], after=0, epoch=1, at=AT)
    stored = [(entry.body.encode(), entry.crc)]
    with pytest.raises(JournalCorrupt, match="checksum"):
        list(codec.decode("j.db", TaskId("002-y"), stored, after=0))
    with pytest.raises(JournalCorrupt, match="has event 1 where event 5 was expected"):
        list(codec.decode("j.db", TASK, stored, after=4))


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ('{"fact":"moon.landed","by":"us"}', "moon.landed"),
        ('{"fact":"effect.ended","id":"turn/1","outcome":{"outcome":"teleported"}}', "effect.ended"),
        ('{"fact":"turn.set_aside","turn":1,"why":"bored"}', "turn.set_aside"),
    ],
)
def test_a_fact_only_a_newer_flyball_knows_is_said_to_be_that(fact: str, name: str) -> None:
    body = f'{{"seq":1,"at":"2026-01-05T09:00:00Z","epoch":1,"fact":{fact}}}'.encode()
    with pytest.raises(JournalNewer, match=f"Event 1 of task 001-x in j.db \\({name}\\).*newer flyball"):
        list(codec.decode("j.db", TASK, [row(body)], after=0))


def test_a_field_added_by_a_newer_flyball_is_passed_over() -> None:
    fact = '{"fact":"stage.moved","stage":"GREEN","previous":"RED","reason":"why","colour":"red"}'
    body = f'{{"seq":1,"at":"2026-01-05T09:00:00Z","epoch":1,"fact":{fact}}}'.encode()
    (event,) = codec.decode("j.db", TASK, [row(body)], after=0)
    assert event.fact == Moved("GREEN", "RED", "why")


def test_a_body_that_is_no_json_is_damage_even_if_its_checksum_holds() -> None:
    with pytest.raises(JournalCorrupt, match="not JSON"):
        list(codec.decode("j.db", TASK, [row(b'{"seq":1')], after=0))
