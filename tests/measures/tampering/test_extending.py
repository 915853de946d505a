"""Where accepted test files may grow: more tests are welcome, and nothing else about them may change."""

import pytest

from flyball.core.model.effects import Measure
from flyball.core.model.task import Commit, EffectId, Settings
from flyball.measures.quality.documents import measure_files
from flyball.measures.tampering.growth import gains_inputs
from flyball.measures.tampering.protected import protect
from flyball.measures.tampering.weakening import may_become, only_adds

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
        OLD + "\n\ndef three():\n    return 3\n\n\nCASES = [1]\n",
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
        OLD + "\n\ndef test_adds():\n    pass\n",
        OLD + "\n\ndef helper():\n    return 3\n",
        OLD + "\n\nfrom fake import calc\n",
        OLD + "\n\nfrom fake import *\n",
        OLD + "\n\ndef setup_module():\n    pass\n",
    ],
)
def test_nothing_else_may_change_in_it(new: str) -> None:
    assert not may_grow(new)


MARKED = "import pytest\n\n\n@pytest.mark.{}\ndef test_adds():\n    assert calc.add(1, 1) == 2\n"
PLAIN = "def test_adds():\n    assert calc.add(1, 1) == 2\n"


@pytest.mark.parametrize("mark", ["skip(reason='later')", "xfail(strict=True)", "skipif(True, reason='no')"])
def test_a_mark_that_skips_a_test_may_go_and_none_may_come(mark: str) -> None:
    assert may_grow(PLAIN, old=MARKED.format(mark))
    assert not may_grow(MARKED.format(mark), old=PLAIN)
    assert not may_grow(PLAIN.replace("== 2", "!= 1"), old=MARKED.format(mark))
    assert not may_grow(PLAIN, old=MARKED.format("usefixtures('strict')"))


def test_a_mark_that_skips_a_test_of_a_script_may_go() -> None:
    plain = "test('adds', () => {\n  expect(add(1, 1)).toBe(2)\n})\n"
    for old in (f"x{plain}", plain.replace("test(", "test.skip(")):
        assert may_grow(plain, "calc.test.js", old)
        assert not may_grow(old, "calc.test.js", plain)


CASES = "@pytest.mark.parametrize('a, b', [(1, 2), (2, 3)])\ndef test_next(a, b):\n    assert calc.next(a) == b\n"


def test_a_test_may_get_more_rows_of_cases() -> None:
    assert may_grow(CASES.replace("(2, 3)", "(2, 3), (9, 10)"), old=CASES)
    assert not may_grow(CASES.replace("(2, 3)", "(9, 10)"), old=CASES)
    assert not may_grow(CASES.replace("(1, 2), ", ""), old=CASES)


FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef basket(tmp_path):\n    return set(), tmp_path\n"


@pytest.mark.parametrize(
    ("more", "allowed"),
    [
        ("@pytest.fixture\ndef full(basket):\n    return basket\n", True),
        ("FULL = {1}\n", True),
        ("@pytest.fixture(autouse=True)\ndef full():\n    yield\n", False),
        ("@pytest.fixture\ndef basket():\n    return 1\n", False),
        ("@pytest.fixture\ndef tmp_path():\n    return 1\n", False),
        ("def set():\n    return 1\n", False),
        ("def pytest_runtest_makereport():\n    pass\n", False),
        ("collect_ignore = ['test_a.py']\n", False),
        ("pytest.fixture.x = 1\n", False),
        ("if True:\n    basket = 1\n", False),
    ],
)
def test_a_file_of_fixtures_may_get_names_that_nothing_uses_yet(more: str, *, allowed: bool) -> None:
    assert only_adds("conftest.py", FIXTURE.encode(), f"{FIXTURE}\n\n{more}".encode()) is allowed


HELPER = "export const bob = () => ({ first: 'Bob' })\n"


@pytest.mark.parametrize(
    ("more", "allowed"),
    [
        ("export const nobody = () => ({\n  first: '',\n})\n", True),
        ("export function nobody() {\n  return {}\n}\n", True),
        ("export const bob = () => ({})\n", False),
        ("assert.equal = () => {}\n", False),
        ("const a = 1\nassert.equal = () => {}\n", False),
        ("  return\n", False),
        ("export const mochaHooks = {}\n", False),
    ],
)
def test_a_script_of_helpers_may_get_new_names(more: str, *, allowed: bool) -> None:
    assert only_adds("test/helpers.js", HELPER.encode(), (more + HELPER).encode()) is allowed


def test_a_script_of_helpers_may_export_more() -> None:
    old = "const bob = () => 1\nmodule.exports = { bob }\n"
    new = "const bob = () => 1\nconst nobody = () => 0\nmodule.exports = { bob, nobody }\n"
    assert only_adds("test/helpers.js", old.encode(), new.encode())
    assert not only_adds("test/helpers.js", old.encode(), new.replace("{ bob, ", "{ ").encode())


def test_data_of_tests_may_get_rows_behind_the_old_ones_and_keys() -> None:
    assert only_adds("tests/cases.json", b"[[4, 2]]", b"[[4, 2], [5, 2]]")
    assert only_adds("tests/cases.json", b'{"half": [1]}', b'{"double": [2], "half": [1, 3]}')
    for changed in (b"[[5, 2], [4, 2]]", b"[[4, 2, 1]]", b"[]", b"[[4, 2]"):
        assert not only_adds("tests/cases.json", b"[[4, 2]]", changed)


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


RUST = "pub fn area(a: u32) -> u32 {\n    a * a\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn two() {\n        assert_eq!(area(2), 4);\n    }\n}\n"
AROUND = "    #[test]\n    fn around() {\n        assert_eq!(around(2), 8);\n    }\n"
PRODUCT = RUST.replace("#[cfg(test)]", "pub fn around(a: u32) -> u32 {\n    4 * a\n}\n\n#[cfg(test)]")


def measured_instead(candidate: str) -> dict[str, bytes]:
    trees = TwoTrees({"src/lib.rs": RUST.encode()}, {"src/lib.rs": candidate.encode()})
    accepted = Commit("accepted")
    request = Measure(EffectId("measure/1"), "green", Commit("candidate"), accepted, accepted, tests_may_grow=True)
    found = protect(request, Settings(), trees)  # type: ignore[arg-type]
    assert found.overlay == {}
    return found.rewritten


@pytest.mark.parametrize("at", ["    #[test]\n    fn two", "}\n\0"])
def test_tests_within_a_product_may_get_more(at: str) -> None:
    candidate = f"{PRODUCT}\0".replace(at, f"\n{AROUND}{at}").removesuffix("\0")
    assert AROUND in candidate
    assert measured_instead(candidate) == {}


@pytest.mark.parametrize(
    "changed",
    [
        PRODUCT.replace("area(2), 4", "area(2), 5"),
        PRODUCT.replace("    #[test]\n", "    #[test]\n    #[ignore]\n"),
        PRODUCT.replace("    #[test]\n", "    #[cfg(windows)]\n    #[test]\n"),
        PRODUCT.replace("        assert_eq!", "        return;\n        assert_eq!"),
        PRODUCT.partition("#[cfg(test)]")[0],
    ],
)
def test_tests_within_a_product_are_put_back_and_the_product_stays(changed: str) -> None:
    (content,) = measured_instead(changed).values()
    assert content.decode() == PRODUCT
