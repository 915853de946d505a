"""What code-quality asks of types: what the project asks of itself, by its settings or by habit."""

import pytest
from tests.measures.evaluators.planted import trees_of

from flyball.measures.evaluators.code_quality import _both
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.strictness import ANY, UNTYPED, not_asked_for
from flyball.measures.evaluators.sources.syntax import Syntax

pytestmark = pytest.mark.req("D22")

TYPED = "".join(f"def f{n}(a: int) -> int:\n    return a\n\n\n" for n in range(6))
UNTYPED_FUNCTIONS = "".join(f"def f{n}(a):\n    return a\n\n\n" for n in range(6))


@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": "[tool.mypy]\ndisallow_any_explicit = true\n"},
        {"mypy.ini": "[mypy]\ndisallow_any_explicit = True\n"},
        {"setup.cfg": "[mypy]\ndisallow_any_explicit = yes\n"},
        {"pyproject.toml": '[tool.basedpyright]\nreportExplicitAny = "error"\n'},
        {"pyproject.toml": '[tool.ruff.lint]\nselect = ["E", "ANN"]\n'},
        {"ruff.toml": '[lint]\nextend-select = ["ANN401"]\n'},
        {".ruff.toml": 'select = ["ALL"]\n'},
    ],
)
def test_any_counts_where_the_project_forbids_it_and_a_track_cannot_loosen_that(tmp_path, settings):
    assert not set(ANY) & not_asked_for(trees_of(tmp_path / "a", settings))
    assert not set(ANY) & not_asked_for(trees_of(tmp_path / "b", {"a.py": ""}, settings))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"pyproject.toml": "[tool.mypy]\nstrict = true\n"},
        {"pyproject.toml": '[tool.ruff.lint]\nselect = ["ALL"]\nignore = ["ANN401"]\n'},
        {"pyproject.toml": "not toml ["},
        {"mypy.ini": "no section\n"},
    ],
)
def test_any_is_nobodys_business_where_the_project_lets_it_be(tmp_path, settings):
    assert set(ANY) <= not_asked_for(trees_of(tmp_path, settings))


@pytest.mark.parametrize(
    ("files", "before", "asked"),
    [
        ({"a.py": TYPED}, {}, True),
        ({"a.py": UNTYPED_FUNCTIONS}, {}, False),
        ({"a.py": UNTYPED_FUNCTIONS}, {"a.py": TYPED}, True),
        ({"a.py": TYPED}, {"a.py": UNTYPED_FUNCTIONS}, False),
        ({"a.py": "def f(a):\n    return a\n"}, {}, False),
        ({"a.py": "def f(a):\n    return a\n", "src/p/py.typed": ""}, {}, True),
        ({"a.py": UNTYPED_FUNCTIONS, "vendored/p/py.typed": ""}, {}, False),
        ({"a.py": "", "pyproject.toml": "[tool.mypy]\nstrict = true\n"}, {}, True),
        ({"a.py": "def broken(:\n", "b.py": TYPED}, {}, True),
    ],
)
def test_types_are_asked_for_where_settings_or_most_functions_do(tmp_path, files, before, asked):
    assert (not set(UNTYPED) & not_asked_for(trees_of(tmp_path, files, before))) is asked


def test_a_parameter_and_a_result_without_type_are_named_in_a_typed_project(tmp_path):
    text = (
        TYPED
        + "def g(a, b: int) -> int:\n    return b\n\n\ndef h(c):\n    return c\n\n\ndef shown(_, *args, **more) -> None: ...\n\n\nclass A:\n    def __init__(self):\n        self.b = 1\n"
    )
    trees = trees_of(tmp_path, {"a.py": text, "tests/test_a.py": "def test_a(b):\n    return b\n"})
    linters = Linters(trees.toolbox, not_asked_for(trees))
    result = _both(trees, "type safety", linters, Syntax(trees.toolbox))
    assert [(each.line, each.rule) for each in result.findings] == [(25, "ANN001"), (29, "ANN201")]


def test_an_unused_variable_is_dead_code_and_an_unused_import_a_pattern(tmp_path):
    files = {
        "a.py": "import os\n\n\ndef f() -> int:\n    left = 1\n    return 2\n",
        "b.ts": 'import { x } from "./c";\nexport function g(seen: string): number {\n  const left = 1;\n  return 2;\n}\n',
    }
    trees = trees_of(tmp_path, files)
    linters = Linters(trees.toolbox)
    told = {name: {(each.file, each.line) for each in linters.defects(trees.head, name)} for name in ("patterns", "dead code")}  # fmt: skip
    assert told == {"patterns": {("a.py", 1), ("b.ts", 1)}, "dead code": {("a.py", 5), ("b.ts", 3)}}


@pytest.mark.req("D23")
def test_a_quick_hash_is_wrong_for_a_password_and_right_for_a_checksum(tmp_path):
    text = "import hashlib\nfrom hashlib import sha1\n\n\ndef check(body, stored):\n    given = body['password'].encode()\n    return hashlib.md5(given).hexdigest() == stored\n\n\ndef store(passwd):\n    return sha1(passwd).hexdigest()\n\n\ndef etag(body):\n    return hashlib.md5(body).hexdigest()\n"
    trees = trees_of(tmp_path, {"a.py": text})
    assert [each.line for each in Linters(trees.toolbox).defects(trees.head, "auth flow")] == [7, 11]
