"""A person's word on its way to a task: understood, checked, made durable, and acted upon at once where nobody else would."""

import shlex
from typing import Literal

import msgspec

from flyball.clock import system_clock
from flyball.core.decide import decide
from flyball.core.model.effects import Question
from flyball.core.model.events import PersonSpoke, Spoken
from flyball.core.model.state import Asked, State
from flyball.core.model.task import MAIN, EffectId, TaskId
from flyball.engine.inbox import take_word
from flyball.journal.errors import LeaseHeld
from flyball.ports import Refusal
from flyball.projections.views.standing import final_stop
from flyball.wiring.presence import controller_of
from flyball.wiring.run.manual_session import manual_session
from flyball.wiring.site import Site

FREE = "TEXT"
"""The key of an option that stands for free text."""


class NotAnAnswer(Refusal):
    """What was typed answers nothing that was asked."""


class Heard(msgspec.Struct, frozen=True):
    task: str
    word: str
    text: str
    question: str
    taken: Literal["now", "by the running controller", "at the next resume"]
    next_command: str


def speak(site: Site, task: TaskId, word: Spoken, *, text: str = "", question: str = "") -> Heard:
    """Put a word into the task's inbox; an abort that no controller would take is carried out here."""
    require_open(site.state(task))
    site.journal.post(task, word, text=text, question=question, at=system_clock.now())
    if word == "abort" and _abort(site, task):
        return Heard(task, word, text, question, "now", f"flyball checkpoints {task}")
    if controller_of(site, task) is not None:
        return Heard(task, word, text, question, "by the running controller", f"flyball logs {task} -f")
    return Heard(task, word, text, question, "at the next resume", f"flyball resume {task}")


def waiting(site: Site, state: State) -> list[PersonSpoke]:
    """The words that are kept for a task and that it will take in; one that is over takes none, but that it is reopened once it is done."""
    stopped = final_stop(state)
    return [
        PersonSpoke(word.word, word.text, word.question, word.id)
        for word in site.journal.pending(state.task.id)
        if stopped is None or (stopped.kind == "done" and word.word == "reopen")
    ]


def require_open(state: State) -> None:
    """Refuse to speak to a task that is over."""
    stopped = final_stop(state)
    if stopped is not None:
        task = state.task.id
        way = f"reopen {task} TEXT" if stopped.kind == "done" else f"rollback {task} --to last-good"
        raise Refusal(
            f"{task} is finished ({stopped.kind}: {stopped.reason}), so it accepts no command. Continue it with: flyball {way}"
        )


def require_at_work(state: State, subtask: str) -> None:
    """Refuse to skip a subtask that has no lane, or whose work is on its way onto the branch: nothing else is skipped in its place."""
    require_open(state)
    task, batch = state.task.id, state.batches.current
    if batch is not None and subtask in batch.attempted:
        told = f"Subtask {subtask!r} of {task} is finished, and its work is being integrated and reviewed"
        raise Refusal(f"{told}: it cannot be left out any more. See: flyball status {task}")
    at_work = [name for name in state.lanes if name != MAIN]
    if subtask not in at_work:
        known = f"It works on: {', '.join(at_work)}." if at_work else "It works on no subtask now."
        raise Refusal(f"{task} does not work on subtask {subtask!r} now. {known} See: flyball status {task}")


def question_of(site: Site, state: State, named: str, given: str = "") -> tuple[EffectId, Question]:
    """The open question a person means by its id, its number, its name, or its lane and name; `given` is what they answer.

    Lanes ask under the same names: a name that fits the open questions of several is refused with the commands to choose from.
    """
    task, asked, answers = state.task.id, state.questions, _answers(site, state)
    meant = [k for k, a in asked.items() if _is_named(k, a, named)]
    still_open = [k for k in meant if answers[k] is None]
    if len(still_open) == 1:
        return still_open[0], asked[still_open[0]].question
    if still_open:
        answer = f" {shlex.quote(given)}" if given else ""
        commands = " or: ".join(f"flyball answer {task} {shlex.quote(k)}{answer}" for k in still_open)
        raise Refusal(f"{len(still_open)} open questions of {task} are called {named!r}. Type {commands}")
    if meant:
        raise Refusal(f"{meant[0]} of {task} is answered already: {answers[meant[0]]!r}. See: flyball status {task}")
    waiting = [k for k, answer in answers.items() if answer is None]
    known = f"It waits for an answer to: {', '.join(waiting)}." if waiting else "It has no open question."
    if len(waiting) == 1:
        known += f" Answer it with: flyball answer {task} {shlex.quote(waiting[0])} TEXT."
    raise Refusal(f"{task} has asked no question {named!r}. {known} See: flyball status {task}")


def find_answer(site: Site, state: State, named: str, given: str) -> tuple[EffectId, str]:
    """The question a person answers, and the answer: where one is open, one of its options may stand in the place of its name."""
    still_open = [k for k, answer in _answers(site, state).items() if answer is None]
    if len(still_open) == 1 and not any(_is_named(k, asked, named) for k, asked in state.questions.items()):
        only = state.questions[still_open[0]].question
        if named.lower() in {option.key.lower() for option in only.options if option.key != FREE}:
            return still_open[0], parse_answer(only, f"{named} {given}")
    key, question = question_of(site, state, named, given)
    return key, parse_answer(question, given)


def _answers(site: Site, state: State) -> dict[EffectId, str | None]:
    """What was answered to each question, taken in or not yet; None while it is open."""
    pending = {EffectId(w.question): w.text for w in site.journal.pending(state.task.id) if w.word == "answer"}
    return {k: pending.get(k) if a.answer is None else a.answer for k, a in state.questions.items()}


def _is_named(key: EffectId, asked: Asked, named: str) -> bool:
    name = asked.question.name
    return named in {key, key.removeprefix("ask/"), name, f"{asked.lane}/{name}"}


def _abort(site: Site, task: TaskId) -> bool:
    """End the task; whether it could be taken in hand: a running controller does it itself.

    What was said before is taken in first, as a controller would: nobody applies it to a task that is over.
    """
    try:
        with manual_session(site, task) as hand:
            for word in site.journal.pending(task):
                hand.append(*take_word(hand.state, word), taking=[word.id])
            hand.interrupt_all("the task was aborted")
            while hand.state.stopped is None and (following := decide(hand.state)).facts:
                hand.append(*following.facts)
    except LeaseHeld:
        return False
    return True


def parse_answer(question: Question, typed: str) -> str:
    """The answer as the loop knows it; raises NotAnAnswer with the choices there are."""
    text = typed.strip()
    if not text:
        if question.default is not None:
            return question.default
        raise NotAnAnswer(f"An answer is needed: {_choices(question)}")
    keys = [option.key for option in question.options if option.key != FREE]
    whole = _key_meant(text, keys)
    if whole is not None and whole != "modify":
        return whole
    word, _, rest = text.partition(" ")
    named = _key_meant(word, keys)
    if named == "modify" and not rest.strip():
        raise NotAnAnswer("modify needs guidance: modify TEXT")
    if named == "modify":
        return f"modify {rest.strip()}"
    # An agent's own question, one without choices, and one that offers it: anything else would be guessed at.
    if not keys or question.name.startswith("agent-") or any(option.key == FREE for option in question.options):
        return text
    raise NotAnAnswer(f"{text!r} is not among the answers: {_choices(question)}")


def _choices(question: Question) -> str:
    keys = [f"modify {FREE}" if option.key == "modify" else option.key for option in question.options]
    return ", ".join(keys) or "free text"


def _key_meant(word: str, keys: list[str]) -> str | None:
    """The option a word names, or begins as no other does."""
    lower = word.lower()
    exact = [key for key in keys if key.lower() == lower]
    beginning = exact or [key for key in keys if key.lower().startswith(lower)]
    return beginning[0] if len(beginning) == 1 else None
