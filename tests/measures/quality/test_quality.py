"""Numbers of the changed code, and what REFACTOR and DOCUMENT look at."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.measures.conftest import Lab

from flyball.core.model.task import CodeLimits, Gate
from flyball.core.text.documents import is_document
from flyball.measures.quality.complexity import _functions, duplicated_lines
from flyball.measures.quality.documents import is_decision_record

TANGLED = (
    "def add(a, b):\n    return a + b\n\n\ndef tangled(a, b, c):\n"
    + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(12))
    + "    return 0\n"
)


@pytest.fixture
def lab(new_lab: Callable[..., Lab]) -> Lab:
    """Nobody here asks how the tests ended, so the gate is any program that ends well."""
    return quick(new_lab())


def quick(lab: Lab) -> Lab:
    lab.gates(Gate("test", "true", 600.0))
    lab.forget_tests()
    return lab


@pytest.mark.req("C41")
def test_refactor_names_the_changed_functions_beyond_the_limits(lab) -> None:
    measured = lab.measure("refactor", {"calc.py": TANGLED})
    assert measured.quality is not None
    assert measured.quality.over_limit == ("calc.py:5 tangled: complexity 13 (must be under 10)",)
    assert measured.quality.complexity_worst == 13
    assert measured.quality.complexity_total == 14
    lab.settings = replace(lab.settings, code=CodeLimits(complexity=20, function_lines=10, parameters=2))
    measured = lab.measure("refactor")
    assert measured.quality is not None
    assert measured.quality.over_limit == ("calc.py:5 tangled: lines 26 (limit 10), parameters 3 (limit 2)",)


@pytest.mark.req("C41")
def test_old_functions_in_a_changed_file_are_not_held_against_the_candidate(new_lab) -> None:
    lab = quick(new_lab({"calc.py": TANGLED}))
    measured = lab.measure("refactor", {"calc.py": TANGLED + "\n\ndef small():\n    return 1\n"})
    assert measured.quality is not None
    assert measured.quality.over_limit == ()
    assert measured.quality.complexity_worst == 1


@pytest.mark.req("C30")
def test_complexity_and_duplication_fall_when_the_code_gets_simpler(lab) -> None:
    block = "".join(f"    value_{n} = {n} + len(str(a))\n" for n in range(8))
    worse = lab.measure("refactor", {"calc.py": f"{TANGLED}\n\ndef one(a):\n{block}\n\ndef two(a):\n{block}\n"}).quality
    better = lab.measure(
        "refactor", {"calc.py": f"def add(a, b):\n    return a + b\n\n\ndef one(a):\n{block}\n"}
    ).quality
    assert worse is not None
    assert better is not None
    assert worse.duplicated_lines == 8
    assert worse.duplication_percent > 5
    assert better.duplicated_lines == 0
    assert better.complexity_total < worse.complexity_total


def test_short_repetitions_and_imports_are_no_duplicates() -> None:
    assert duplicated_lines(["import a\nimport b\nimport c\nimport d\nimport e\nimport f\nimport g\n"] * 2) == 0
    assert duplicated_lines(["one = 1\ntwo = 2\nthree = 3\n"] * 3) == 0


@pytest.mark.req("C41")
def test_documents_decision_records_and_diagrams_are_counted(lab) -> None:
    diagram = "```mermaid\ngraph TD\n  A[Start] --> B{Choice}\n```\n"
    measured = lab.measure(
        "document",
        {
            "README.md": f"# calc\n\n{diagram}",
            "docs/decisions/0001-x.md": "# X\n",
            "docs/guide.rst": "Guide\n",
            "api/openapi.yaml": "openapi: 3.1.0\n",
            "docs/bad.md": "```mermaid\ngraph TD\n  A[Start --> B\n```\n",
            "notes.txt": "not a document\n",
            "docs/decisions/0002-y.md": " \n",
        },
    )
    files = measured.files
    assert (files.documents, files.decision_records, files.created) == (5, 1, 7)
    assert files.documents_empty == ("docs/decisions/0002-y.md",)
    assert (files.diagrams, files.diagrams_valid) == (2, 1)
    assert len(files.diagrams_broken) == 1
    assert files.diagrams_broken[0].startswith("docs/bad.md, diagram 1: ")
    assert measured.gates[0].passed


def test_what_counts_as_a_document() -> None:
    assert is_document("docs/a.adoc")
    assert is_document("api/swagger.json")
    assert not is_document("src/a.py")
    assert is_decision_record("ADR-004-x.md")
    assert is_decision_record("docs/decisions/0002-y.rst")
    assert not is_decision_record("docs/decisions.md")
    assert not is_decision_record("docs/decisions/picture.png")


@pytest.mark.req("C45")
@pytest.mark.parametrize(
    "mark", ["# lizard forgives", "#lizard forgive global", "# GENERATED CODE", "# lizard forgives(ccn)"]
)
def test_no_comment_has_code_passed_over(mark: str) -> None:
    branches = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(12))
    plain = _functions("a.py", f"def f(a):\n{branches}")
    marked = _functions("a.py", f"{mark}\ndef f(a):\n    {mark}\n{branches}")
    assert plain is not None
    assert marked is not None
    assert [f.complexity for f in marked] == [f.complexity for f in plain] == [13]
