"""Reads a program's events by a table: what each type of event adds to a turn, and what people are shown of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, ClassVar

import msgspec

from flyball.agents.dialect import Event, HowEnded, TurnReading
from flyball.agents.display.display import Shown, call_line, question, show_result, show_words
from flyball.agents.reading.loose_json import as_dict, as_list, sum_counts
from flyball.core.model.outcomes import Usage

Field = str | Callable[[Event], Any]
"""Where something stands in an event: dotted paths with `|` between them, the first that holds something, or a function of it."""
Unpack = Callable[[Event], Iterable[tuple[str, Event]]]
"""The parts of an event, each with the name of its row."""


def look_up(event: Event, field: Field) -> Any:
    if callable(field):
        return field(event)
    value: Any = None
    for path in field.split("|") if field else ():
        value = event
        for name in path.split("."):
            value = as_dict(value).get(name)
        if value:
            break
    return value


def equals(path: str, wanted: Any) -> Field:
    return lambda event: (found := look_up(event, path)) == wanted and type(found) is type(wanted)


def count_usage(
    *told: Any,
    read: Sequence[str] = ("input_tokens",),
    written: Sequence[str] = ("output_tokens",),
    usd: float | None = None,
) -> Usage:
    """The tokens that these objects count, all of them together, and what they cost."""
    return Usage(sum_counts(told, *read), sum_counts(told, *written), usd)


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one type of event adds.

    `text` is an answer; what goes on with it is a `piece`, or another text of the same `message`, after `joint`. A `call` is known
    again in its `result` by its `call_id`; a function of a result finds the call in it, as `call`. `denied` is the line of a
    refused call, `question` what a tool asked; `refused` says whether a failed call was refused. A `step` is work between two
    answers, as calls and results are. `notes` are what only this program tells, the last that is not None. Of an event for which `unless` is true nothing is read; it is only shown.
    """

    unless: Field = ""
    session: Field = ""
    model: Field = ""
    text: Field = ""
    piece: Field = ""
    message: Field = ""
    joint: str = ""
    call: Field = ""
    call_id: Field = ""
    inputs: Field = ""
    result: Field = ""
    failed: Field = ""
    refused: Field = ""
    denied: Field = ""
    question: Field = ""
    notice: Field = ""
    notes: dict[str, Field] = {}
    usage: Callable[[Event], Usage] | None = None
    step: bool = False
    end: bool = False

    def show(self, event: Event) -> list[Shown]:
        shown = show_words("text", look_up(event, self.text)) + show_words("piece", look_up(event, self.piece))
        if self.call:
            shown.append(Shown("call", call_line(look_up(event, self.call), as_dict(look_up(event, self.inputs)))))
        if self.result:
            shown.append(show_result(look_up(event, self.result), failed=bool(look_up(event, self.failed))))
        return shown + show_words("notice", look_up(event, self.notice))


class StreamSummary:
    """What the events of one turn add up to; `asking` is the tool with which a person is asked."""

    def __init__(self, asking: str) -> None:
        self.session, self.model, self.text = "", "", ""
        self.end: Event | None = None
        self.question: Event = {}
        self.refused: list[str] = []
        self.notes: dict[str, Any] = {}
        self._asking, self._calls, self._steps = asking, dict[str, Event](), 0
        self._usages: dict[str, Usage] = {}
        self._message: Any = None

    def add(self, row: EventRow, event: Event) -> None:
        self.session = str(look_up(event, row.session) or self.session)
        self.model = str(look_up(event, row.model) or self.model)
        # Pieces without a message's name belong to one as long as there is no call between them.
        text = str(look_up(event, row.text or row.piece) or "")
        if text:
            message = look_up(event, row.message) if row.message else self._steps if row.piece else None
            goes_on = message is not None and message == self._message
            self.text = f"{self.text}{row.joint}{text}" if goes_on else text
            self._message = message
        if row.call:
            call: Event = {"name": str(look_up(event, row.call)), "inputs": as_dict(look_up(event, row.inputs))}
            self._calls[str(look_up(event, row.call_id))] = call
            if self._asking and call["name"] == self._asking:
                self.question = call["inputs"] or {"question": ""}
        if row.result:
            self._add_result(row, event)
        self._steps += bool(row.step or row.call or row.result)
        self.question = as_dict(look_up(event, row.question)) or self.question
        self.refused += filter(None, [look_up(event, row.denied)])
        noted = {name: look_up(event, field) for name, field in row.notes.items()}
        self.notes |= {name: value for name, value in noted.items() if value is not None}
        if row.usage:
            self._usages[str(look_up(event, row.message) or len(self._usages))] = row.usage(event)
        self.end = event if row.end else self.end

    def _add_result(self, row: EventRow, event: Event) -> None:
        """A question that was answered is none any more."""
        call = self._calls.get(str(look_up(event, row.call_id)), {})
        asked, failed = call.get("name") == self._asking, look_up(event, row.failed)
        if asked and not failed:
            self.question = {}
        elif failed and not asked and look_up({**event, "call": call}, row.refused):
            self.refused.append(call_line(call.get("name"), as_dict(call.get("inputs"))))

    @property
    def has_answer(self) -> bool:
        """Whether the model said or did anything."""
        return bool(self.text or self._calls)

    @property
    def speaking(self) -> bool:
        """Whether nothing was called after the last piece of text."""
        return self._message is not None and self._message == self._steps

    @property
    def usage(self) -> Usage | None:
        return reduce(Usage.plus, self._usages.values()) if self._usages else None

    def reading(
        self,
        ended: HowEnded,
        usage: Usage | None = None,
        *,
        cumulative: bool = False,
        session: str | None = None,
        message: str | None = None,
    ) -> TurnReading:
        """The turn's reading; `session` and `message` stand in for what was read, where the program tells them otherwise."""
        kind, detail, reset_at = ended
        asks, options = question(self.question) if kind == "question" else ("", ())
        return TurnReading(
            kind=kind,
            detail=detail,
            final_message=self.text if message is None else message,
            usage=usage or Usage(estimated=True),
            cumulative=cumulative and usage is not None,
            session=self.session if session is None else session,
            reset_at=reset_at,
            question=asks,
            options=options,
            model=self.model,
        )


def unpack_plain(event: Event) -> Iterator[tuple[str, Event]]:
    """An event that is itself its only part."""
    yield str(event.get("type")), event


class EventTable(msgspec.Struct, frozen=True, kw_only=True):
    """A program's events: `rows` by their type, or by the name `unpack` gives to each part of one; `session` may stand in any."""

    rows: Mapping[str, EventRow]
    unpack: Unpack = unpack_plain
    session: str = ""
    asking: str = ""

    def read(self, events: Iterable[Event]) -> StreamSummary:
        summary, anywhere = StreamSummary(self.asking), EventRow(session=self.session)
        for event in events:
            summary.add(anywhere, event)
            for name, part in self.unpack(event):
                row = self.rows.get(name)
                if row is not None and not look_up(part, row.unless):
                    summary.add(row, part)
        return summary

    def show(self, event: Event) -> list[Shown]:
        found = ((self.rows.get(name), part) for name, part in self.unpack(event))
        return [shown for row, part in found if row is not None for shown in row.show(part)]


class StreamDialect:
    """A dialect of a program that prints events, known by the program's name."""

    name: ClassVar[str]
    events: ClassVar[EventTable]

    @property
    def program(self) -> str:
        return self.name

    @property
    def version_argv(self) -> tuple[str, ...]:
        return (self.program, "--version")

    def show(self, event: Event) -> list[Shown]:
        return self.events.show(event)


def unpack_messages(event: Event) -> Iterator[tuple[str, Event]]:
    """An event, and the parts of the message in it, as Claude Code and those after its likeness print them."""
    kind = str(event.get("type"))
    yield f"{kind} {event['subtype']}" if kind == "system" and event.get("subtype") else kind, event
    for part in map(as_dict, as_list(as_dict(event.get("message")).get("content"))):
        yield f"{kind} {part.get('type')}", {**part, "parent": event.get("parent_tool_use_id")}


MESSAGE_ROWS = {
    "assistant text": EventRow(unless="parent", text="text"),
    "assistant tool_use": EventRow(unless="parent", call="name", call_id="id", inputs="input"),
    "user tool_result": EventRow(
        unless="parent", result="content", call_id="tool_use_id", failed=equals("is_error", True)
    ),
}
"""The parts of such messages; those with a parent are a subagent's."""


def denied_calls(result: Event, asking: str) -> list[str]:
    """The lines of the calls that such a program's result says were denied; a question, by the tool `asking`, is none."""
    calls = map(as_dict, as_list(result.get("permission_denials")))
    return [
        call_line(call.get("tool_name"), as_dict(call.get("tool_input")))
        for call in calls
        if call.get("tool_name") != asking
    ]
