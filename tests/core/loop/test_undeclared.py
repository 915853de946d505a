"""Edits outside the declared files: merged and named, dropped where only code writes, asked about where a file goes."""

import pytest
from msgspec.structs import replace
from tests.support.builders import short_tdd_run

from flyball.core.fold.evolve import evolve
from flyball.core.loop.undeclared import is_test_of, undeclared_edits
from flyball.core.model.events import Event, ItemsSet, UndeclaredEditsFound
from flyball.core.model.task import Item
from flyball.projections.views.lines import line

DECLARED = ("src/a.py", "docs/", "lib/*.ts")


@pytest.mark.parametrize("path", ["src/a.py", "docs/x/y.md", "lib/b.ts", "tests/test_a.py", "src/a_test.py"])
def test_what_was_declared_and_its_tests_are_not_outside(path: str) -> None:
    assert undeclared_edits(DECLARED, [("M", path), ("D", path)], item="1.2") == UndeclaredEditsFound("1.2")


def test_every_other_change_is_sorted_by_what_it_means() -> None:
    changed = [
        ("M", "src/b.py"),
        ("A", "src/new.py"),
        ("D", "src/gone.py"),
        ("M", "pytest.ini"),
        ("M", "tasks.md"),
        ("M", ".loop/001-x/plan.md"),
        ("M", "src/a.py"),
    ]
    found = undeclared_edits(
        ("./src/a.py",),
        changed,
        item="1.2",
        lane="1.2",
        protected=("pytest.ini",),
        sources=("tasks.md",),
        others={"1.3": ("src/b.py", "pytest.ini"), "1.4": ("src/c.py",), "1.5": ("src/",)},
    )
    assert found == UndeclaredEditsFound(
        "1.2",
        also_changed=("src/b.py", "src/new.py"),
        deleted=("src/gone.py",),
        protected=("pytest.ini",),
        dropped=("tasks.md", ".loop/001-x/plan.md"),
        shared={"1.3": ("src/b.py", "pytest.ini"), "1.5": ("src/b.py", "src/new.py", "src/gone.py")},
        lane="1.2",
    )


def test_who_declared_nothing_may_change_everything_but_what_only_code_writes() -> None:
    changed = [("D", "src/a.py"), ("M", "tasks.md")]
    assert undeclared_edits((), changed, item="1", sources=("tasks.md",)) == UndeclaredEditsFound(
        "1", dropped=("tasks.md",)
    )


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("tests/test_store.py", True),
        ("src/store_test.go", True),
        ("web/store.spec.ts", True),
        ("web/store.test.tsx", True),
        ("src/StoreTest.java", False),
        ("tests/test_other.py", False),
        ("src/store.pyi", False),
        ("conftest.py", False),
    ],
)
def test_a_test_is_told_by_its_name(path: str, is_one: bool) -> None:
    assert is_test_of(path, ("src/store.py",)) == is_one


def test_what_an_item_also_changed_is_its_file_from_then_on_and_is_told() -> None:
    story = short_tdd_run()
    items = (Item("1.2", "one", files=("a",)), Item("1.3", "two", files=("b",)), Item("1.4", "any"))
    found = UndeclaredEditsFound("1.2", ("b", "c"), deleted=("d",), protected=("e",), dropped=("tasks.md",))
    state = story.state
    for fact in (ItemsSet(items, "planner"), found, replace(found, item="1.4")):
        event = Event(state.seq + 1, state.now, state.epoch, fact)
        state = evolve(state, event)
    assert [item.files for item in state.items] == [("a", "b", "c", "d"), ("b",), ()]
    told = line(Event(1, state.now, 1, found), state)
    assert told is not None
    assert told.endswith("1.2: also changed b, c; deletes d; was allowed to change e; dropped its change of tasks.md")
