"""Where accepted test files may grow: more tests are welcome, and nothing else about them may change."""

import pytest

from flyball.core.model.effects import Measure
from flyball.core.model.task import Commit, EffectId, Settings
from flyball.measures.quality.documents import measure_files
from flyball.measures.tampering.growth import gains_inputs
from flyball.measures.tampering.protected import protect
from flyball.measures.tampering.weakening import may_become

pytestmark = pytest.mark.req("C42", "E30")

OLD = "import calc\n\n\ndef helper():\n    return 2\n\n\ndef test_adds():\n    assert calc.add(1, 1) == helper()\n"
MORE = "\n\ndef test_adds_more():\n    assert calc.add(2, 2) == 4\n"


def may_grow(new: str, path: str = "tests/test_calc.py", old: str = OLD, *, grow: bool = True) -> bool:
    return may_become(path, old.encode(), new.encode(), rewritable=False, tests_may_grow=grow)


@pytest.mark.parametrize(
    "new",
    [
        OLD + MORE,
        OLD.replace("import calc\n", "import calc\nimport math\n") + MORE,
        OLD + "\n\nclass TestMore:\n    def test_it(self):\n        assert calc.add(0, 0) == 0\n",
        OLD.replace("def helper", "def test_first():\n    assert calc\n\n\ndef helper"),
        OLD + "    assert calc.add(0, 2) == helper()\n",
    ],
)
def test_more_tests_and_their_imports_may_be_added(new: str) -> None:
    assert may_grow(new)
    assert not may_grow(new, grow=False), "elsewhere a test file stays as it was accepted"


@pytest.mark.parametrize(
    ("new"),
    [
        OLD.replace("== helper()", "== 3") + MORE,
        OLD.replace("    assert calc", "    return\n    assert calc"),
        OLD.replace("def test_adds():", "@skip\ndef test_adds():") + MORE,
        MORE,
        OLD.replace("return 2", "return 3") + MORE,
        OLD + "\ncalc.add = lambda a, b: 2\n" + MORE,
        OLD + "\n\ndef pytest_runtest_makereport():\n    pass\n",
        OLD + "\n\n@autouse\ndef quiet():\n    pass\n",
    ],
)
def test_nothing_else_may_change_in_it(new: str) -> None:
    assert not may_grow(new)


def test_in_other_languages_a_file_may_grow_at_its_end() -> None:
    old = "test('adds', () => { expect(add(1, 1)).toBe(2) })\n"
    assert may_grow(old + "test('more', () => { expect(add(2, 2)).toBe(4) })\n", "calc.test.js", old)
    assert not may_grow(f"beforeEach(cheat)\n{old}", "calc.test.js", old)


def test_a_test_may_be_added_inside_a_group_of_a_script() -> None:
    old = "describe('calc', () => {\n  it('adds', () => {\n    expect(add(1, 1)).toBe(2)\n  })\n})\n"
    more = "  it('multiplies', () => {\n    expect(mul(2, 3)).toBe(6)\n  })\n"
    assert may_grow(old.replace("  it('adds'", f"{more}  it('adds'"), "calc.test.js", old)
    imported = "import { add } from './calc.mjs'\n" + old
    wider = imported.replace("{ add }", "{ add, mul }").replace("  it('adds'", f"{more}  it('adds'")
    assert may_grow(wider, "calc.test.js", imported)
    assert not may_grow(imported.replace("./calc.mjs", "./fake.mjs"), "calc.test.js", imported)
    for cheat in ("  return\n", "  if (!process.env.FULL) {\n", "  beforeEach(() => cheat())\n"):
        assert not may_grow(old.replace("  it('adds'", f"{cheat}  it('adds'"), "calc.test.js", old)


def test_a_class_of_tests_may_get_more_of_them() -> None:
    old = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(1)\n"
    assert may_grow(old + "\n    def test_b(self):\n        self.assertTrue(2)\n", old=old)
    assert not may_grow(old + "\n    def setUp(self):\n        self.skipTest('later')\n", old=old)


def test_an_import_may_bring_more_names() -> None:
    old = "from calc import add\n\n\ndef test_adds():\n    assert add(1, 1) == 2\n"
    assert may_grow(old.replace("import add", "import add, mul") + MORE.replace("calc.add", "mul"), old=old)
    assert not may_grow(old.replace("import add", "import mul as add"), old=old)


class TwoTrees:
    """An accepted and a candidate tree in memory."""

    def __init__(self, accepted: dict[str, bytes], candidate: dict[str, bytes]) -> None:
        self.trees = {"accepted": accepted, "candidate": candidate}

    def list_files(self, commit: str) -> tuple[str, ...]:
        return tuple(self.trees[commit])

    def read_file(self, commit: str, path: str) -> bytes | None:
        return self.trees[commit].get(path)

    def links(self, _commit: str) -> frozenset[str]:
        return frozenset()

    def changed_files(self, old: str, new: str) -> tuple[tuple[str, str], ...]:
        before, after = self.trees[old], self.trees[new]
        return tuple(("M", path) for path in {**before, **after} if before.get(path) != after.get(path))


def test_a_folder_that_is_kept_is_measured_as_it_was_and_each_change_of_it_named() -> None:
    trees = TwoTrees(
        {".work/agent/issues/high.md": b"mine\n", "a.py": b"1\n"},
        {".work/agent/issues/high.md": b"theirs\n", ".work/new.md": b"x\n", "a.py": b"2\n", ".workshop.py": b"3\n"},
    )
    accepted = Commit("accepted")
    request = Measure(
        EffectId("measure/1"), "green", Commit("candidate"), accepted, accepted, kept=(".work",), tests_may_grow=True
    )
    found = protect(request, Settings(), trees)  # type: ignore[arg-type]
    assert found.overlay == {".work/agent/issues/high.md": accepted, ".work/new.md": None}
    assert found.tricks == ()
    assert [note.split()[0] for note in found.notes] == [".work/agent/issues/high.md", ".work/new.md"]


def test_files_in_a_folder_that_is_kept_are_not_counted_as_changed() -> None:
    trees = TwoTrees({".work/high.md": b"mine\n", "a.py": b"1\n"}, {".work/high.md": b"theirs\n", "a.py": b"2\n"})
    found = measure_files(trees, Commit("accepted"), Commit("candidate"), lambda _texts: [], (".work",))  # type: ignore[arg-type]
    assert (found.created, found.modified, found.deleted) == (0, 1, 0)


MAKEFILE = "OBJS = calc.o\n\ntest: test_calc\n\t./test_calc\n\ntest_calc: test_calc.c $(OBJS)\n\tcc -o $@ test_calc.c $(OBJS)\n"


@pytest.mark.req("C45")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("OBJS = calc.o", "OBJS = calc.o power.o"),
        ("test_calc: test_calc.c $(OBJS)", "test_calc: test_calc.c power.h $(OBJS)"),
        ("cc -o $@ test_calc.c $(OBJS)", "cc -o $@ test_calc.c power.c $(OBJS)"),
    ],
)
def test_what_a_gate_builds_may_get_more_sources(old: str, new: str) -> None:
    assert gains_inputs(MAKEFILE, MAKEFILE.replace(old, new))


@pytest.mark.req("C45")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("./test_calc", "true"),
        ("./test_calc", "./test_calc || true"),
        ("cc -o", "cc  -o"),
        ("OBJS = calc.o", "OBJS = power.o"),
        ("test: test_calc", "test: test_calc other"),
        ("OBJS = calc.o", "OBJS = calc.o\nSHELL = true"),
        ("$(OBJS)\n", "$(OBJS)\n\ntest:\n\ttrue\n"),
    ],
)
def test_what_a_gate_builds_may_not_change_otherwise(old: str, new: str) -> None:
    assert not gains_inputs(MAKEFILE, MAKEFILE.replace(old, new))
