"""Which learnings fit a turn: the numbers of the table, one by one, and what never reaches a prompt."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.support.simulator import START, EveryFile

from flyball.core.memory.ranking import WEIGHTS, TurnSubject, rank
from flyball.core.memory.recalling import CONTRADICTIONS, choose, contradictions, line, recall
from flyball.core.memory.settling import LearningEntry, settle
from flyball.core.memory.validity import condition, doubt
from flyball.core.memory.words import normalise, overlap, words
from flyball.core.model.effects import Recall
from flyball.core.model.events import LearningRecorded
from flyball.core.model.learnings import KnownLearning, Learnings
from flyball.core.model.task import Commit, EffectId

NOW = START + timedelta(days=365)


def entry(
    number: int = 1, task: str = "001-a", *, age: float = 3650, standing: Any = "kept", **fact: Any
) -> LearningEntry:
    said = {"title": "".join(chr(97 + int(digit)) * 3 for digit in str(number)), "kind": "decision", **fact}
    recorded = LearningRecorded(number, **said)
    return LearningEntry(f"{task}/{number}", task, recorded, NOW - timedelta(days=age), standing)


def asked(text: str = "", **more: Any) -> TurnSubject:
    return TurnSubject("002-b", words(text), at=NOW, **more)


def score(one: LearningEntry, question: TurnSubject) -> float:
    found = rank([one], question, least=-1.0)
    return round(found[0].score, 2)


class Files:
    """A tree of named texts."""

    def __init__(self, now: dict[str, str], then: dict[str, str] | None = None) -> None:
        self.now, self.then = now, then or {}

    def exists(self, path: str) -> bool:
        return path in self.now

    def text(self, path: str) -> str | None:
        return self.now.get(path)

    def text_then(self, _commit: str, path: str) -> str | None:
        return self.then.get(path)


@pytest.mark.parametrize(
    ("of", "question", "worth"),
    [
        (entry(files=("a.py",)), asked(files=("a.py",)), 4.0),
        (entry(files=("a.py", "b.py", "c.py")), asked(files=("a.py", "b.py", "c.py")), 8.0),
        (entry(files=("src/a.py",)), asked(files=("src/b.py",)), 1.5),
        (entry(files=("a.py",)), asked(files=("b.py",)), 0.0),
        (entry(task="002-b"), asked(), 2.0),
        (entry(task="002-b", item="1.1"), asked(item="1.2", related=("1.2", "1.1")), 2.0),
        (entry(task="002-b", item="1.1"), asked(item="1.2", related=("1.2",)), 0.0),
        (entry(kind="anti-pattern"), asked(), 0.5),
        (entry(age=0), asked(), 1.0),
        (entry(age=30), asked(), 0.5),
    ],
)
def test_each_thing_they_share_is_worth_what_the_table_says_o41(
    of: LearningEntry, question: TurnSubject, worth: float
) -> None:
    assert score(of, question) == worth


def test_words_are_worth_up_to_three_and_rare_ones_more_o41() -> None:
    common = [entry(n, title=f"parser {chr(97 + n) * 4} {chr(97 + n) * 5}") for n in range(2, 24)]
    rare = entry(1, title="parser tokeniser lookahead buffer")
    found = rank([rare, *common], asked("parser tokeniser lookahead buffer"), least=0.01)
    assert found[0].entry.id == "001-a/1"
    assert 1.5 < found[0].score < WEIGHTS.words
    assert found[0].score > 3 * found[1].score


def test_names_in_code_are_read_as_words_o41() -> None:
    assert words("readFiles read_file HTTPServer, the 42") == ("read", "file", "read", "file", "http", "server")
    assert normalise("  Use CSV,\n please!") == "use csv please"
    assert (overlap("ab", "ab"), overlap("ab", "cd"), overlap("", "")) == (1.0, 0.0, 1.0)


def test_less_than_the_least_is_not_shown_o41() -> None:
    assert rank([entry(age=0, title="discount rules")], asked("login form")) == []


def test_of_those_that_say_the_same_the_newest_counts_o41() -> None:
    same: dict[str, Any] = {"title": "discount rounding half up money", "files": ("a.py",)}
    known = [entry(1, **same), entry(2, age=1, **same), entry(3, files=("a.py",))]
    more = [entry(4, age=2, title="discount rounding half up money")]
    question = asked("discount rounding", files=("a.py",))
    assert [each.id for each in choose({e.id: e for e in known + more}, question, EveryFile())] == [
        "001-a/2",
        "001-a/3",
    ]
    newer = [entry(1, **same), entry(5, age=0, title="discount rounding half up money")]
    assert [each.id for each in choose({e.id: e for e in newer}, question, EveryFile())] == ["001-a/5"]


def test_why_a_learning_is_shown_is_told_part_by_part_o41() -> None:
    (found,) = rank([entry(age=0, files=("src/a.py",))], asked(files=("src/a.py",)))
    assert found.why == "shares src/a.py, recent"


# Validity.


@pytest.mark.parametrize(
    ("text", "now", "stale"),
    [
        ("path new.py exists", {"new.py": ""}, "path new.py exists"),
        ("path new.py exists", {}, ""),
        ("path `old.py` is gone", {}, "path old.py gone"),
        ("path old.py gone", {"old.py": ""}, ""),
        ("setup.cfg mentions 'python 4'", {"setup.cfg": "for python 4 only"}, "setup.cfg mentions python 4"),
        ("setup.cfg mentions python4", {"setup.cfg": "python 3"}, ""),
        ("setup.cfg mentions python4", {}, ""),
        ("path ../../etc/passwd exists", {"../../etc/passwd": ""}, ""),
        ("the API changes", {}, ""),
    ],
)
def test_three_forms_of_invalidated_if_are_looked_up_o41(text: str, now: dict[str, str], stale: str) -> None:
    fact = LearningRecorded(1, "decision", "t", invalidated_if=text)
    assert doubt(fact, Files(now)).stale == stale


def test_any_other_condition_is_told_with_the_learning_and_a_checked_one_is_not_o41() -> None:
    assert condition("the API changes") is None
    assert "invalid if: the API changes" in line(entry(invalidated_if="the API changes"))
    assert "invalid if" not in line(entry(invalidated_if="path a.py gone"))


def test_a_file_the_learning_names_is_gone_or_all_it_is_about_are_o41() -> None:
    fact = LearningRecorded(1, "decision", "Keep rates in rates.py", files=("src/rates.py", "src/other.py"))
    assert doubt(fact, Files({"src/other.py": ""})).stale == "src/rates.py is gone"
    assert doubt(fact, Files({"src/rates.py": ""})).stale == "", "a file it does not name may go"
    assert doubt(replace(fact, title="Rates"), Files({})).stale == "src/rates.py is gone"
    assert doubt(replace(fact, kind="anti-pattern"), Files({})).stale == "", "it tells of work that is not there"


def test_a_file_rewritten_since_is_told_with_the_learning_o41() -> None:
    fact = LearningRecorded(1, "decision", "t", files=("a.py",), commit=Commit("c"))
    old = "\n".join(f"line {n}" for n in range(10))
    half = "\n".join(["new"] * 4 + [f"line {n}" for n in range(6)])
    little = "\n".join(["new"] * 7 + [f"line {n}" for n in range(3)])
    assert doubt(fact, Files({"a.py": half}, {"a.py": old})).note == ""
    assert doubt(fact, Files({"a.py": little}, {"a.py": old})).note == "changed since: a.py"


def test_what_is_stale_makes_room_for_the_next_o41() -> None:
    many = [entry(n, files=(f"{n}.py",), age=n) for n in range(1, 9)]
    tree = Files({f"{n}.py": "" for n in range(3, 9)})
    question = asked(files=tuple(f"{n}.py" for n in range(1, 9)))
    shown = choose({e.id: e for e in many}, question, tree)
    assert [each.id for each in shown] == [f"001-a/{n}" for n in range(3, 9)]


# What may never happen.

STANDINGS = ("proposed", "kept", "superseded", "stale", "undone", "dropped")
TEXT = st.text(max_size=300)
PATHS = st.lists(st.sampled_from(["a.py", "src/b.py", "src/c.py", "d/e.md"]), max_size=4, unique=True).map(tuple)
FACTS = st.builds(
    lambda kind, title, choice, context, files, invalid: {
        "kind": kind, "title": title, "choice": choice, "context": context, "files": files, "invalidated_if": invalid
    },
    st.sampled_from(["decision", "anti-pattern"]), TEXT, TEXT, TEXT, PATHS, TEXT,
)  # fmt: skip
ENTRIES = st.lists(st.tuples(FACTS, st.sampled_from(STANDINGS)), max_size=25)


@given(ENTRIES, TEXT, PATHS, PATHS)
@settings(max_examples=80, deadline=None)
def test_nothing_but_what_is_kept_and_holds_reaches_a_prompt_and_the_budget_holds_o41(
    found: list[tuple[dict[str, Any], str]], text: str, files: tuple[str, ...], there: tuple[str, ...]
) -> None:
    entries = [entry(n, "002-b", age=n, standing=standing, **fact) for n, (fact, standing) in enumerate(found, 1)]
    known = {e.id: e for e in entries}
    tree = Files(dict.fromkeys(there, ""))
    shown = choose(known, asked(text, files=files), tree)
    assert all(known[each.id].standing == "kept" for each in shown)
    assert not any(doubt(known[each.id].fact, tree).stale for each in shown)
    assert all(each.score >= WEIGHTS.least for each in shown)
    assert len(shown) <= 6
    assert sum(len(each.line) + 1 for each in shown) <= 1200
    assert not any("\n" in each.line for each in shown)


def test_a_recall_is_the_same_whenever_it_is_made_from_the_same_facts_o41() -> None:
    tasks = {"001-a": learnt(entry(1, files=("a.py",), choice="one"), entry(2, choice="two"))}
    request = Recall(EffectId("recall/1"), words="one", files=("a.py",), at=NOW)
    first = recall(request, "002-b", tasks, EveryFile())
    assert first == recall(request, "002-b", tasks, EveryFile())
    assert [each.id for each in first.learnings] == ["001-a/1"]
    assert first.searched == 2


# Coherence.


def learnt(*entries: LearningEntry) -> Learnings:
    return Learnings({e.fact.number: KnownLearning(e.fact, e.at, e.standing) for e in entries})


def against(new: LearningEntry, *old: LearningEntry) -> list[str]:
    tasks = {"001-a": learnt(*old), "002-b": learnt(new)}
    return [pair.old for pair in contradictions(settle(tasks), "002-b")]


@pytest.fixture
def proposed() -> Callable[..., LearningEntry]:
    def make(**fact: Any) -> LearningEntry:
        return entry(1, "002-b", age=0, standing="proposed", **fact)

    return make


def test_a_contradiction_is_another_choice_on_the_same_subject_o42(proposed: Callable[..., LearningEntry]) -> None:
    old = entry(title="Money rounding", choice="round half up", files=("money.py",))
    assert against(proposed(title="Rounding of money", choice="truncate always"), old) == ["001-a/1"]
    assert against(proposed(title="Money rounding", choice="round half up"), old) == [], "they agree"
    assert against(proposed(title="Login form", choice="use OAuth"), old) == [], "another subject"
    shared = proposed(title="Money format everywhere in output", choice="two digits", files=("money.py",))
    assert against(shared, old) == []
    assert against(proposed(title="money sums", choice="truncate", files=("money.py",)), old) == ["001-a/1"]
    assert against(proposed(title="x", choice="y", depends_on=("001-a/1",)), old) == ["001-a/1"]


def test_what_is_superseded_by_the_new_one_or_gone_is_no_contradiction_o42(
    proposed: Callable[..., LearningEntry],
) -> None:
    old = entry(title="Money rounding", choice="round half up")
    assert against(proposed(title="Money rounding", choice="truncate", supersedes=("001-a/1",)), old) == []
    gone = [replace(old, standing=standing) for standing in ("undone", "dropped", "proposed")]
    assert [against(proposed(title="Money rounding", choice="truncate"), each) for each in gone] == [[], [], []]
    many = [entry(n, title="Money rounding", choice=f"way {n}") for n in range(1, 12)]
    assert len(against(proposed(title="Money rounding", choice="truncate"), *many)) == CONTRADICTIONS


@pytest.mark.req("O41")
def test_a_prompt_holds_six_learnings_and_1200_characters_of_them_at_most() -> None:
    assert (WEIGHTS.most, WEIGHTS.characters) == (6, 1200)
