"""What a person is told wherever they are: that they are needed, that a task ended, that a long wait begins or is over."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from flyball.core.model.effects import Ask, Wait
from flyball.core.model.events import Begun, Ended, Event, TaskStopped
from flyball.core.model.outcomes import Waited
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.projections.pages.summary import ANSWERS, FREE, title_of
from flyball.projections.views.situation import situation
from flyball.projections.views.standing import next_command
from flyball.projections.wording import clock_time, name_lane, plain

LONG = timedelta(minutes=10)
"""A shorter wait is told to nobody."""

Kind = Literal["needed", "ended", "waits", "goes on"]
_ENDED = {"done", "aborted"}
_NEEDED = {"blocked", "limit", "no_agent", "error"}


class Button(msgspec.Struct, frozen=True):
    """An answer that may be chosen from afar; it opens the form and answers nothing by itself."""

    label: str
    path: str


class Notice(msgspec.Struct, frozen=True):
    """One thing to tell: a title, one line of what and why, the command to type, and where the page shows it."""

    kind: Kind
    key: str
    title: str
    text: str
    command: str = ""
    path: str = ""
    buttons: tuple[Button, ...] = ()
    question: str = ""

    @property
    def task(self) -> str:
        return self.key.rpartition(":")[0]


def still_matters(notice: Notice, state: State, now: datetime) -> bool:
    """Whether something that could not be told at once is worth telling now; what was settled meanwhile is not."""
    stopped = state.stopped.kind if state.stopped else ""
    if notice.kind == "ended":
        return stopped in _ENDED
    if notice.kind == "needed" and notice.question:
        asked = state.questions.get(EffectId(notice.question))
        return asked is not None and asked.answer is None and stopped not in _ENDED
    if notice.kind == "needed":
        return stopped in _NEEDED
    waits = (effect for effect in state.open.values() if isinstance(effect, Wait))
    return notice.kind == "waits" and any(wait.until - now > LONG for wait in waits)


class Notices:
    """Give it each event with the state after it; each thing is told once, though two facts may say it."""

    def __init__(self, repository: str) -> None:
        self._repository = repository
        self._asked: set[str] = set()
        self._long: dict[EffectId, tuple[str, datetime]] = {}

    def of(self, event: Event, state: State) -> Notice | None:
        match event.fact:
            case Begun(effect=Ask() as ask) if ask.attempt == 1:
                return self._question(event, state, ask)
            case Begun(effect=Wait() as wait) if wait.until - event.at > LONG:
                # Lanes that wait for the same thing are told once, and that they go on once none of them waits.
                known = (wait.reason, wait.until) in self._long.values()
                self._long[wait.id] = wait.reason, wait.until
                text = name_lane(wait.lane, f"waits until {clock_time(wait.until, event.at)}: {plain(wait.reason)}")
                return None if known else self._notice("waits", event, state, text)
            case Ended(id=id_, outcome=Waited()) if id_ in self._long:
                ended = self._long.pop(id_)
                # A wait that a person's word broke off has no end: it is only no longer under way.
                if any(key in state.open for key, other in self._long.items() if other == ended):
                    return None
                return self._notice("goes on", event, state, f"goes on after its wait: {plain(ended[0])}")
            case TaskStopped() as stopped if stopped.question not in self._asked or not stopped.question:
                kind: Kind | None = "needed" if stopped.kind in _NEEDED else "ended" if stopped.kind in _ENDED else None
                return self._notice(kind, event, state, plain(stopped.reason, 300)) if kind else None
        return None

    def _question(self, event: Event, state: State, ask: Ask) -> Notice:
        self._asked.add(ask.id)
        question = ask.question
        options = [o.key for o in question.options if o.key != FREE]
        default = (
            f"; {question.default} is taken at {clock_time(question.deadline_at, event.at)}"
            if question.default and question.deadline_at
            else ""
        )
        offered = f" [{' | '.join(options)}]" if options else ""
        told = f"{plain(question.text, 240)}{offered}{default}"
        path = f"{self._path(state)}/question/{ask.id.replace('/', '-')}"
        buttons = tuple(Button(ANSWERS.get(key, plain(key, 40)), f"{path}?answer={key}") for key in options[:3])
        command = f"flyball answer {state.task.id} {ask.id} {options[0] if options else 'TEXT'}"
        return msgspec.structs.replace(
            self._notice("needed", event, state, told), command=command, path=path, buttons=buttons, question=ask.id
        )

    def _notice(self, kind: Kind, event: Event, state: State, text: str) -> Notice:
        word = "NEEDS YOU" if kind == "needed" and state.stopped is None else situation(state)
        title = f"{word}: {title_of(state.task.request)}"
        return Notice(kind, f"{state.task.id}:{event.seq}", title, text, next_command(state), self._path(state))

    def _path(self, state: State) -> str:
        return f"/t/{self._repository}/{state.task.id}"
