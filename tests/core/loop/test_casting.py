"""Who reviews: another model than the one that really implemented, as the agents said it."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from tests.support.builders import a_state, with_changes
from tests.support.simulator import START, Honest, Simulator, a_task

from flyball.core.loop import casting
from flyball.core.model.effects import RunAgent
from flyball.core.model.events import LimitHit
from flyball.core.model.outcomes import TurnEnded
from flyball.core.model.state import State
from flyball.core.model.task import AgentChoice, AgentSpec, Author, Gate, Player, Settings, Task
from flyball.core.providers.models import MODELS, account_of, same_model

HOUR = timedelta(hours=1)
TWO = (
    AgentSpec("first", command=("a",), model="large", fallback=("second",)),
    AgentSpec("second", command=("b",), model="small"),
)
CLAUDE = (AgentSpec("claude", "claude"),)


def a_task_of(agents: tuple[AgentSpec, ...], **roles: AgentChoice) -> Task:
    leading = AgentChoice(agents[0].name, agents[0].model, agents[0].fallback)
    settings = Settings(gates=(Gate("test", "t"),), roles={"default": leading, **roles})
    return msgspec.structs.replace(a_task(settings=settings), agents=agents)


def written_by(agents: tuple[AgentSpec, ...], *authors: Author, **known: object) -> State:
    return a_state(a_task_of(agents), START, "QA", authors=authors, **known)


def playing(known: State, role: str = "qa", *, reviewing: bool = True) -> Player | None:
    return casting.player_for(known, known.main, role, reviewing=reviewing)


class Telling(Honest):
    """Agents that say which model ran; those in `limited` have met their provider's limit."""

    def __init__(self, ran: dict[str, str], limited: tuple[str, ...] = (), lasts: timedelta = HOUR) -> None:
        super().__init__()
        self.ran, self.limited, self.lasts = ran, limited, lasts
        self.turns: list[RunAgent] = []

    def work(self, turn: RunAgent, state: State) -> TurnEnded:
        self.turns.append(turn)
        if turn.agent in self.limited and turn.stage == "GREEN":
            return TurnEnded("usage_limit", "limit", reset_at=state.now + self.lasts)
        ended = super().work(turn, state)
        told = self.ran.get(turn.model, self.ran.get(turn.agent, turn.model))
        return msgspec.structs.replace(ended, model=told)

    def reviews(self) -> list[RunAgent]:
        return [turn for turn in self.turns if turn.role == "qa"]


def driven(world: Telling, task: Task) -> State:
    world.turn = world.work
    return Simulator(world, task).run()


@pytest.mark.req("C2", "C12")
def test_after_a_fallback_implemented_the_first_agent_reviews() -> None:
    world = Telling({}, limited=("first",))
    state = driven(world, a_task_of(TWO, qa=AgentChoice("second", "small")))
    assert state.decision == "DONE"
    assert {(a.agent, a.model) for a in state.main.authors if a.role == "implementer"} == {("second", "small")}
    (review,) = world.reviews()
    assert (review.agent, review.model) == ("first", "large")
    assert review.authors == state.main.authors


@pytest.mark.req("C2")
@pytest.mark.parametrize(("ran", "reviewer"), [("claude-opus-5-5", "sonnet"), ("claude-sonnet-4-5-20250929", "opus")])
def test_one_agent_of_several_models_is_reviewed_by_the_other_whatever_was_set(ran: str, reviewer: str) -> None:
    world = Telling({"claude": ran})
    state = driven(world, a_task_of(CLAUDE))
    assert state.decision == "DONE"
    assert {a.model for a in state.main.authors} == {ran}
    assert [(turn.agent, turn.model) for turn in world.reviews()] == [("claude", reviewer)]


@pytest.mark.req("C2")
def test_a_model_that_answered_in_place_of_the_one_asked_for_is_the_author() -> None:
    """Asked for opus, the agent ran sonnet: opus may review, sonnet may not."""
    author = Author("implementer", "claude", "claude-sonnet-5", asked="opus")
    player = playing(written_by(CLAUDE, author))
    assert player is not None
    assert player.model != "sonnet"
    assert casting.independence(Player("claude", "sonnet"), (author,), CLAUDE) == "same"


@pytest.mark.req("C2")
def test_one_command_without_models_reviews_its_own_work_and_that_is_known() -> None:
    alone = (AgentSpec("command", command=("prog",)),)
    world = Telling({})
    state = driven(world, a_task_of(alone))
    (review,) = world.reviews()
    assert state.decision == "DONE"
    assert casting.independence(Player(review.agent, review.model), review.authors, alone) == "same"


@pytest.mark.req("C2")
def test_where_the_models_are_not_known_another_agent_reviews_and_no_more_is_said() -> None:
    untold = (AgentSpec("a", command=("a",)), AgentSpec("b", command=("b",)))
    known = written_by(untold, Author("implementer", "a"))
    assert playing(known) == Player("b")
    assert casting.independence(Player("b"), known.main.authors, untold) == "unknown"
    makers = (AgentSpec("claude", "claude"), AgentSpec("codex", "codex"))
    assert casting.independence(Player("codex"), (Author("implementer", "claude"),), makers) == "other"


@pytest.mark.req("C2")
def test_a_reviewer_that_a_person_set_is_kept_whoever_implemented() -> None:
    task = a_task_of(TWO, qa=AgentChoice("second", "small", fixed=True))
    known = a_state(task, START, "QA", authors=(Author("implementer", "second", "small"),))
    assert playing(known) == Player("second", "small")


@pytest.mark.req("C2")
def test_another_model_is_waited_for_but_not_for_ever() -> None:
    author = Author("implementer", "second", "small")
    soon = {"command a": LimitHit("first", "usage_limit", START + HOUR)}
    assert playing(written_by(TWO, author, limits=soon)) is None
    late = {"command a": LimitHit("first", "usage_limit", START + 24 * HOUR)}
    assert playing(written_by(TWO, author, limits=late)) == Player("second", "small")
    assert playing(written_by(TWO, author, absent=("first",))) == Player("second", "small")


@pytest.mark.req("C2")
def test_of_authors_only_rather_the_one_that_did_not_implement_reviews() -> None:
    authors = (Author("implementer", "first", "large"), Author("refactorer", "second", "small"))
    assert playing(written_by(TWO, *authors)) == Player("second", "small")


@pytest.mark.req("C2")
def test_a_model_this_login_does_not_have_is_not_asked_again() -> None:
    class Refusing(Telling):
        def work(self, turn: RunAgent, state: State) -> TurnEnded:
            if turn.model == "sonnet":
                self.turns.append(turn)
                return TurnEnded("crashed", "model_not_found")
            return super().work(turn, state)

    world = Refusing({"claude": "claude-opus-5-5"})
    assert driven(world, a_task_of(CLAUDE)).decision == "DONE"
    assert [turn.model for turn in world.reviews()] == ["sonnet", ""]


@pytest.mark.req("C12")
def test_two_names_on_one_login_share_its_limit() -> None:
    names = (AgentSpec("a", "claude", fallback=("b",)), AgentSpec("b", "claude", model="sonnet"))
    known = a_state(a_task_of(names), START, "GREEN")
    assert casting.account(known, "a") == casting.account(known, "b")
    limits = {casting.account(known, "a"): LimitHit("a", "usage_limit", START + HOUR)}
    assert playing(with_changes(known, limits=limits), "implementer", reviewing=False) is None


@pytest.mark.req("C12")
def test_accounts_are_told_apart_by_program_unless_the_user_says_otherwise() -> None:
    assert account_of(AgentSpec("a", "codex")) == account_of(AgentSpec("b", "acp", ("codex-acp",)))
    assert account_of(AgentSpec("a", "codex", ("/opt/bin/codex",))) == account_of(AgentSpec("b", "codex"))
    assert account_of(AgentSpec("a", "codex", ("codex-at-work",))) != account_of(AgentSpec("b", "codex"))
    assert account_of(AgentSpec("a", "codex", account="work")) != account_of(AgentSpec("b", "codex"))
    assert account_of(AgentSpec("a", command=("x", "1"))) != account_of(AgentSpec("b", command=("x", "2")))
    shared = (AgentSpec("a", command=("x",), account="one"), AgentSpec("b", command=("y",), account="one"))
    assert account_of(shared[0]) == account_of(shared[1])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("opus", "claude-opus-5-5", True),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("sonnet[1m]", "sonnet", True),
        ("gpt-5", "gpt-5-mini", False),
        ("opus", "sonnet", False),
        ("flash", "gemini-3-pro", False),
        ("GPT-5", "gpt-5", True),
    ],
)
def test_names_of_one_model_are_the_same_model(one: str, other: str, *, same: bool) -> None:
    assert same_model(one, other) is same
    assert same_model(other, one) is same


@pytest.mark.req("C2")
def test_the_models_known_of_an_agent_are_really_two() -> None:
    for first, second in MODELS.values():
        assert not same_model(first, second)
