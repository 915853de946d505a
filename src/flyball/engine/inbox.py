"""A person's word from the inbox as facts, for whoever acts on the task: its controller, or somebody without one."""

from flyball.core.model.effects import Ask
from flyball.core.model.events import Ended, Fact, PersonSpoke
from flyball.core.model.outcomes import Answered
from flyball.core.model.state import State
from flyball.core.model.task import EffectId
from flyball.ports import Word


def take_word(state: State, word: Word) -> tuple[Fact, ...]:
    """What a word adds; the question that an answer is for is over with it."""
    spoke = PersonSpoke(word.word, word.text, word.question, word.id)
    asked = state.open.get(EffectId(word.question)) if word.word == "answer" else None
    return (Ended(asked.id, Answered(word.text), asked.attempt), spoke) if isinstance(asked, Ask) else (spoke,)
