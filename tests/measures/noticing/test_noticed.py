"""A change that no measurement notices is not verified: measured with real runs of real test programs."""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.measures.conftest import MUL, TESTS, Lab

from flyball.core.model.task import Gate, Item
from flyball.measures.gates.expectations import keep

pytestmark = [pytest.mark.req("C19"), pytest.mark.slow]

SLUG = """
    def slugify(text):
        return "-".join(text.lower().split())
    """
HELLO = """
    from slug import slugify


    def test_hello():
        assert slugify("Hello World") == "hello-world"
    """
EXAMPLE = 'slugify("Hello World") gives "hello-world"'
GARBAGE = """
    words = ["hello", "world"]


    def main(value):
        for word in words:
            print(word)
    """


def look(lab: Lab, files: Mapping[str, str | None], kind: str = "green") -> tuple[str, str]:
    measured = lab.measure(kind, files)
    assert measured.noticed is not None, measured
    return measured.noticed.kind, measured.noticed.evidence


def test_a_new_test_that_fails_without_the_change_is_the_evidence(lab: Lab) -> None:
    assert look(lab, {"slug.py": SLUG, "tests/test_slug.py": HELLO}) == (
        "new-test",
        "tests/test_slug.py::test_hello fails without the change",
    )


def test_a_source_that_does_not_parse_is_named_with_its_line(lab: Lab) -> None:
    measured = lab.measure("green", {"slug.py": 'def slugify(text):\n    print "hello"\n'})
    (told,) = measured.unparsed
    assert told.startswith("slug.py:2: it does not parse: ")
    assert measured.noticed is None


UNNOTICED = {
    "no test": {},
    "a test of nothing": {"tests/test_slug.py": "def test_sum():\n    assert 1 + 1 == 2\n"},
    "a test that only imports": {"tests/test_slug.py": "import slug\n\n\ndef test_it_is_there():\n    assert slug\n"},
    "a test that only finds the name": {
        "tests/test_slug.py": "from slug import main\n\n\ndef test_it_is_there():\n    assert callable(main)\n"
    },
    "a test that replaces what it tests": {
        "tests/test_slug.py": """
            import slug


            def test_main(monkeypatch):
                monkeypatch.setattr(slug, "main", lambda value: "hello-world")
                assert slug.main("Hello World") == "hello-world"
            """
    },
}


@pytest.mark.parametrize("tests", UNNOTICED.values(), ids=UNNOTICED)
def test_code_that_no_test_calls_is_not_noticed(lab: Lab, tests: dict[str, str]) -> None:
    measured = lab.measure("green", {"slug.py": GARBAGE, **tests})
    assert measured.noticed is not None
    assert (measured.noticed.kind, measured.noticed.files) == ("nothing", ("slug.py",))
    assert not measured.caught


def test_a_module_of_statements_that_is_only_imported_is_not_noticed(lab: Lab) -> None:
    tests = "import slug\n\n\ndef test_it_is_there():\n    assert slug\n"
    assert look(lab, {"slug.py": 'print("hello world")\n', "tests/test_slug.py": tests})[0] == "nothing"


def test_tests_that_stay_green_whatever_the_code_does_are_remarked(lab: Lab) -> None:
    idle = HELLO + "\n\n    def test_sum():\n        assert 1 + 1 == 2\n"
    measured = lab.measure("green", {"slug.py": SLUG, "tests/test_slug.py": idle})
    assert [(r.file, r.line, r.text) for r in measured.remarks] == [
        ("tests/test_slug.py", 8, "test_sum passes whatever the changed code does")
    ]
    assert measured.noticed is not None
    assert measured.noticed.kind == "new-test"


def test_new_functions_that_no_test_calls_are_remarked_and_those_behind_others_are_not(lab: Lab) -> None:
    helped = """
        def words(text):
            return text.lower().split()


        def slugify(text):
            return "-".join(words(text))


        def unused(text):
            return text
        """
    measured = lab.measure("green", {"slug.py": helped, "tests/test_slug.py": HELLO})
    assert [(r.file, r.line, r.text) for r in measured.remarks] == [
        ("slug.py", 9, "no test of this change fails when unused raises")
    ]


def test_a_refactoring_is_noticed_by_the_tests_there_are(lab: Lab) -> None:
    other = '''
        """Arithmetic."""


        def add(a, b):
            """Add."""
            return sum((a, b))
        '''
    assert look(lab, {"calc.py": other}) == (
        "existing-test",
        "tests/test_old.py::test_add fails when the changed code is broken",
    )


def test_a_moved_function_is_noticed_by_the_tests_that_import_it(lab: Lab) -> None:
    files = {"calc.py": "from sums import add\n", "sums.py": "def add(a, b):\n    return a + b\n"}
    assert look(lab, files)[0] == "existing-test"


def test_a_bug_fix_with_its_test_is_noticed(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab({"calc.py": "def add(a, b):\n    return a + b if b else 0\n"})
    tests = "from calc import add\n\n\ndef test_zero():\n    assert add(1, 0) == 1\n"
    files = {"calc.py": "def add(a, b):\n    return a + b\n", "tests/test_zero.py": tests}
    assert look(lab, files) == ("new-test", "tests/test_zero.py::test_zero fails without the change")


NO_PRODUCT: dict[str, dict[str, str | None]] = {
    "a document": {"README.md": "# Calc\n"},
    "configuration": {"settings.yml": "colour: red\n"},
    "tests only": {"tests/test_more.py": "from calc import add\n\n\ndef test_more():\n    assert add(2, 2) == 4\n"},
    "a docstring and a comment": {
        "calc.py": '"""Sums."""\n\n\ndef add(a, b):\n    """Add both."""\n    # Both.\n    return a + b\n'
    },
}


@pytest.mark.parametrize("files", NO_PRODUCT.values(), ids=NO_PRODUCT)
def test_a_change_without_product_code_passes_and_says_that_nothing_measured_it(
    lab: Lab, files: dict[str, str | None]
) -> None:
    kind, evidence = look(lab, files)
    assert kind == "no-product"
    assert "it was not measured whether a test notices" in evidence


def test_a_data_file_that_a_new_test_needs_is_noticed(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab({"rates.json": '{"EUR": 1}\n'})
    test = "import json\n\n\ndef test_usd():\n    assert json.load(open('rates.json'))['USD'] == 2\n"
    kind, evidence = look(lab, {"rates.json": '{"EUR": 1, "USD": 2}\n', "tests/test_rates.py": test})
    assert (kind, evidence) == ("new-test", "tests/test_rates.py::test_usd fails without the change")


def test_removing_dead_code_passes(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab({"dead.py": "def gone():\n    return 1\n"})
    kind, evidence = look(lab, {"dead.py": None})
    assert (kind, evidence.partition(":")[0]) == ("no-product", "product code was only removed")


def test_a_comment_is_called_a_comment_and_states_no_example_of_a_criterion(lab: Lab) -> None:
    lab.items = (Item("AC-1", EXAMPLE),)
    measured = lab.measure("green", {"calc.py": "# TODO slugify\ndef add(a, b):\n    return a + b\n"})
    assert measured.noticed is not None
    assert measured.noticed.evidence.partition(":")[0] == "only comments were changed in product code"
    assert measured.noticed.unstated == (EXAMPLE,)


HONEST: dict[str, dict[str, str]] = {
    "a dataclass": {
        "slug.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Slug:\n    text: str\n",
        "tests/test_slug.py": "from slug import Slug\n\n\ndef test_text():\n    assert Slug('a').text == 'a'\n",
    },
    "a constant": {
        "slug.py": "RATE = 0.2\n",
        "tests/test_slug.py": "import slug\n\n\ndef test_rate():\n    assert slug.RATE == 0.2\n",
    },
    "an enum": {
        "slug.py": "import enum\n\n\nclass Kind(enum.Enum):\n    A = 1\n    B = 2\n",
        "tests/test_slug.py": "from slug import Kind\n\n\ndef test_kind():\n    assert Kind(2) is Kind.B\n",
    },
    "an exception": {
        "slug.py": "class Wrong(ValueError): pass\n\n\ndef fail():\n    raise Wrong('x')\n",
        "tests/test_slug.py": """
            import pytest
            from slug import Wrong, fail


            def test_fail():
                with pytest.raises(Wrong):
                    fail()
            """,
    },
    "a generator and a coroutine": {
        "slug.py": "def each():\n    yield 1\n\n\nasync def one():\n    return 1\n",
        "tests/test_slug.py": """
            import asyncio
            import slug


            def test_each():
                assert list(slug.each()) == [1]


            def test_one():
                assert asyncio.run(slug.one()) == 1
            """,
    },
    "a re-export": {
        "shop/__init__.py": "from shop.slug import slugify\n",
        "shop/slug.py": "def slugify(text): return text.lower()\n",
        "tests/test_slug.py": "import shop\n\n\ndef test_slug():\n    assert shop.slugify('A') == 'a'\n",
    },
    "a program that is started": {
        "tool.py": "import sys\n\nprint(sys.argv[1].lower())\n",
        "tests/test_tool.py": """
            import subprocess
            import sys


            def test_tool():
                assert subprocess.check_output([sys.executable, "tool.py", "A"], text=True) == "a\\n"
            """,
    },
}


@pytest.mark.parametrize("files", HONEST.values(), ids=HONEST)
def test_tested_code_of_every_shape_is_noticed(lab: Lab, files: dict[str, str]) -> None:
    assert look(lab, files)[0] == "new-test"


def test_red_is_evidence_enough(green_lab: Lab) -> None:
    before = len(green_lab.said)
    assert look(green_lab, {"calc.py": MUL}) == (
        "new-test",
        f"{TESTS}::test_ac_1_many[-2-3--6] fails without the change",
    )
    commands = [line for kind, line in green_lab.said[before:] if kind == "command"]
    assert len(commands) == 3  # the full run, the planted one, and one of the planted tests as they are


def test_the_price_is_partial_runs_of_the_tasks_own_tests(new_lab: Callable[..., Lab], tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    counting = f"""
        def test_first():
            assert True


        def test_second():
            with open({str(runs)!r}, "a") as file:
                file.write("run\\n")
        """
    lab = new_lab({"tests/test_counting.py": counting})
    lab.baseline_ref = lab.accepted_ref = keep(lab.blobs, {"tests/test_counting.py::test_first": "passing"})
    assert look(lab, {"slug.py": SLUG, "tests/test_slug.py": HELLO})[0] == "new-test"
    assert len(runs.read_text().splitlines()) == 2  # the gate, and once without the new test file
    commands = [line for kind, line in lab.said if kind == "command"]
    assert len(commands) == 6  # these, the planted failures, the new test again, and two partial runs of the probe


NODE = shutil.which("node")
COUNTED = "node --test --test-reporter=junit --test-reporter-destination={junit}"
SLUG_JS = """
    export const JOINT = "-";

    export function slugify(text) {
      return text.toLowerCase().split(" ").join(JOINT);
    }

    export const shout = (text) => text.toUpperCase();
    """
SLUG_TEST_JS = """
    import assert from "node:assert/strict";
    import { test } from "node:test";
    import { slugify } from "../slug.mjs";

    test("hello", () => {
      assert.equal(slugify("Hello World"), "hello-world");
    });
    """
ADD_JS = {
    "package.json": '{"name": "calc", "version": "1.0.0", "type": "module"}\n',
    "add.mjs": "export function add(a, b) {\n  return a + b;\n}\n",
    "test/add.test.mjs": """
        import assert from "node:assert/strict";
        import { test } from "node:test";
        import { add } from "../add.mjs";

        test("adds", () => {
          assert.equal(add(1, 2), 3);
        });
        """,
}
IMPORTS_JS = """
    import assert from "node:assert/strict";
    import { test } from "node:test";
    import * as slug from "../slug.mjs";

    test("it is there", () => {
      assert.ok(slug.slugify);
    });
    """
SCRIPTS: dict[str, tuple[dict[str, str], str]] = {
    "a tested function": ({"slug.mjs": SLUG_JS, "test/slug.test.mjs": SLUG_TEST_JS}, "new-test"),
    "a function that no test calls": ({"slug.mjs": SLUG_JS}, "nothing"),
    "a test that only imports": ({"slug.mjs": SLUG_JS, "test/slug.test.mjs": IMPORTS_JS}, "nothing"),
    "a refactoring": ({"add.mjs": "export const add = (a, b) => [a, b].reduce((x, y) => x + y);\n"}, "existing-test"),
    "a comment": ({"add.mjs": "// Adds.\nexport function add(a, b) {\n  return a + b;\n}\n"}, "no-product"),
}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("command", [COUNTED, "node --test"], ids=["counted", "by exit code"])
@pytest.mark.parametrize(("files", "kind"), SCRIPTS.values(), ids=SCRIPTS)
def test_javascript_is_probed_as_well(
    new_lab: Callable[..., Lab], command: str, files: dict[str, str], kind: str
) -> None:
    lab = new_lab(ADD_JS, bare=True)
    lab.forget_tests()
    lab.gates(Gate("test", command, 600.0))
    assert look(lab, files)[0] == kind


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_script_that_does_not_parse_is_named_with_its_line(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab(ADD_JS, bare=True)
    lab.forget_tests()
    lab.gates(Gate("test", "node --test", 600.0))
    (told,) = lab.measure("green", {"slug.mjs": "export const a = 1;\nexport function {\n"}).unparsed
    assert told.startswith("slug.mjs:2: it does not parse: SyntaxError")


CHECK = """
    #!/bin/sh
    set -e
    for each in tests/test_*.sh; do sh "$each"; done
    """
SHELL = {"check.sh": CHECK, "lib/add.sh": "add() { echo $(($1 + $2)); }\n",
         "tests/test_add.sh": '. ./lib/add.sh\ntest "$(add 1 2)" = 3\n'}  # fmt: skip
UPPER = {"lib/upper.sh": 'upper() { echo "$1" | tr a-z A-Z; }\n'}
UPPER_TEST = {"tests/test_upper.sh": '. ./lib/upper.sh\ntest "$(upper a)" = A\n'}


@pytest.mark.parametrize(("tests", "kind"), [(UPPER_TEST, "new-test"), ({}, "nothing")], ids=["tested", "untested"])
def test_a_gate_that_is_a_script_is_asked_by_its_exit_code(
    new_lab: Callable[..., Lab], tests: dict[str, str], kind: str
) -> None:
    lab = new_lab(SHELL, bare=True)
    lab.forget_tests()
    lab.gates(Gate("check", "sh check.sh", 600.0))
    assert look(lab, {**UPPER, **tests})[0] == kind


def test_a_script_that_failed_before_the_change_is_evidence(new_lab: Callable[..., Lab]) -> None:
    check = {"check.py": "from parts import alpha\n\nassert alpha() == 1, 'alpha is missing'\n", "parts.py": "\n"}
    lab = new_lab(check, bare=True)
    lab.forget_tests()
    lab.gates(Gate("check", f"{sys.executable} check.py", 600.0))
    found = look(lab, {"parts.py": "def alpha():\n    return 1\n"})
    assert found == ("new-test", "the gate check fails without the change")


@pytest.mark.req("C15")
@pytest.mark.parametrize(
    ("there", "kind"), [(False, "new-test"), (True, "nothing")], ids=["red before", "green before"]
)
def test_a_script_that_failed_before_the_work_notices_it_though_it_runs_none_of_it(
    new_lab: Callable[..., Lab], kind: str, *, there: bool
) -> None:
    before = {"alpha.py": "def alpha():\n    return 1\n"} if there else {}
    lab = new_lab({"check.sh": "ls alpha* || { echo alpha is missing; exit 1; }\n", **before}, bare=True)
    lab.forget_tests()
    lab.gates(Gate("check", "sh check.sh", 600.0))
    assert look(lab, {"alpha.py": "def alpha():\n    return 2\n"})[0] == kind


def test_sources_of_a_project_that_keeps_another_syntax_are_no_fault(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab({"old.py": "print 'two'\n"})
    measured = lab.measure("green", {"new.py": "print 'three'\n"})
    assert measured.unparsed == ()
    assert any("new.py" in note for note in measured.notes)


def test_test_data_that_does_not_parse_is_no_fault(lab: Lab) -> None:
    measured = lab.measure("green", {"tests/data/broken.py": "def (:\n", "tests/data/broken.json": "{"})
    assert measured.unparsed == ()


JSON = {
    "comments": '{\n  // why\n  "a": [1, 2,],\n}\n',
    "one value a line": '{"a": 1}\n{"a": 2}\n',
    "plain": '{"a": "// no comment"}\n',
}


@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
def test_json_in_its_common_forms_parses(lab: Lab, text: str) -> None:
    assert lab.measure("green", {"tsconfig.json": text}).unparsed == ()


def test_several_criteria_are_named_by_tests_that_ran(lab: Lab) -> None:
    lab.items = (Item("AC-1", "lower case"), Item("AC-2", "hyphens"))
    tests = HELLO.replace("test_hello", "test_ac_1_hello")
    measured = lab.measure("green", {"slug.py": SLUG, "tests/test_slug.py": tests})
    assert measured.noticed is not None
    assert measured.noticed.unnamed == ("AC-2",)


@pytest.mark.parametrize("source", ["", "\n", '"""Slugs."""\n', "# slugify\n"])
def test_a_new_module_without_code_is_not_noticed(lab: Lab, source: str) -> None:
    assert look(lab, {"slug.py": source})[0] == "nothing"


def test_a_new_package_without_code_is_no_product(lab: Lab) -> None:
    assert look(lab, {"shop/__init__.py": ""})[0] == "no-product"


WITHOUT_CODE: dict[str, tuple[dict[str, str | None], tuple[str, ...]]] = {
    "an empty package": ({"slug/__init__.py": ""}, (EXAMPLE,)),
    "a note beside the work": ({"README.md": "# Calc\n\nIt can do more.\n"}, (EXAMPLE,)),
    "a document that gives the example": ({"README.md": f"# Calc\n\n`{EXAMPLE}`\n"}, ()),
}


@pytest.mark.parametrize(("files", "unstated"), WITHOUT_CODE.values(), ids=WITHOUT_CODE)
def test_a_change_without_code_shows_no_example_of_a_criterion_unless_it_is_a_document_that_gives_it(
    lab: Lab, files: dict[str, str | None], unstated: tuple[str, ...]
) -> None:
    lab.items = (Item("AC-1", EXAMPLE),)
    measured = lab.measure("green", files)
    assert measured.noticed is not None
    assert (measured.noticed.kind, measured.noticed.unstated) == ("no-product", unstated)


def test_a_gate_that_is_a_script_of_the_users_may_state_the_example_itself(new_lab: Callable[..., Lab]) -> None:
    check = "from slug import slugify\nassert slugify('Hello World') == 'hello-world'\n"
    lab = new_lab({"slug.py": "def slugify(text):\n    return text\n", "check.py": check}, bare=True)
    lab.gates(Gate("check", f"{sys.executable} check.py", 600.0))
    lab.forget_tests()
    lab.items = (Item("AC-1", EXAMPLE),)
    measured = lab.measure("green", {"slug.py": SLUG})
    assert measured.noticed is not None
    assert (measured.noticed.kind, measured.noticed.unstated) == ("new-test", ())


@pytest.mark.req("C15")
def test_tests_that_cannot_be_loaded_are_not_counted(lab: Lab) -> None:
    loaded = lab.measure("green", {"tests/test_slug.py": "def test_slug():\n    assert False\n"})
    unloaded = lab.measure(
        "green", {"tests/test_slug.py": "from slug import slugify\n\n\ndef test_slug():\n    slugify('a')\n"}
    )
    assert (loaded.is_known_by_output, unloaded.is_known_by_output) == (False, True)


def test_a_golden_file_that_changes_with_the_product_is_evidence(new_lab: Callable[..., Lab]) -> None:
    test = "from pathlib import Path\nfrom slug import hello\n\n\ndef test_hello():\n    assert hello() == Path('tests/golden/hello.txt').read_text()\n"
    files = {"slug.py": "def hello():\n    return 'hi'\n", "tests/test_hello.py": test, "tests/golden/hello.txt": "hi"}
    lab = new_lab(files)
    lab.items = (Item("AC-1", "hello ends with an exclamation mark; update the golden files"),)
    found = look(lab, {"slug.py": "def hello():\n    return 'hi!'\n", "tests/golden/hello.txt": "hi!"})
    assert found[0] == "new-test"
