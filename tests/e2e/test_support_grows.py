"""What accepted tests use may get more for new tests, and accepted tests are measured without that: no trick comes in that way."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.e2e.plays import FINISHED, Action, play

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C16", "C42")]

GATE = ("--gate", f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q")
CONFTEST = "import pytest\nfrom calc import Calc\n\n\n@pytest.fixture\ndef calc():\n    return Calc()\n"
FILES = {
    "calc.py": "class Calc:\n    def add(self, a, b):\n        return a + b\n",
    "conftest.py": CONFTEST,
    "tests/makers.py": "def two():\n    return 2\n",
    "tests/cases.json": "[[1, 2, 3]]\n",
    "tests/test_calc.py": "import json\nfrom pathlib import Path\n\nimport pytest\nfrom makers import two\n\n"
    "CASES = json.loads(Path(__file__).with_name('cases.json').read_text())\n\n\n"
    "def test_add(calc):\n    assert calc.add(two(), 1) == 3\n\n\n"
    "@pytest.mark.parametrize('a, b, c', CASES)\ndef test_cases(calc, a, b, c):\n    assert calc.add(a, b) == c\n\n\n"
    "@pytest.mark.xfail(strict=True)\ndef test_mul(calc):\n    assert calc.mul(2, 3) == 6\n",
    ".gitignore": "__pycache__/\n",
}
MUL = FILES["calc.py"] + "\n    def mul(self, a, b):\n        return a * b\n"
KEPT_AS_IT_WAS = FILES["tests/test_calc.py"]
UNMARKED = KEPT_AS_IT_WAS.replace("@pytest.mark.xfail(strict=True)\n", "")


def test_fixtures_and_helpers_that_new_tests_need_stay_and_are_remarked(tmp_path: Path) -> None:
    more = {
        "calc.py": MUL,
        "conftest.py": f"{CONFTEST}\n\n@pytest.fixture\ndef six(calc):\n    return calc.mul(2, 3)\n",
        "tests/makers.py": FILES["tests/makers.py"] + "\n\ndef six_made():\n    return 6\n",
        "tests/test_calc.py": UNMARKED,
        "tests/test_mul.py": "from makers import six_made\n\n\ndef test_six(six):\n    assert six == six_made()\n",
    }
    ended = play(tmp_path, FILES, "Teach Calc to multiply: mul", [[{"write": more}, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision, ended.status["tricks"]) == (0, "DONE", []), ended.reason
    for path, text in more.items():
        assert ended.branch_file(path) == text
    assert "lines were added to what a gate runs, or accepted tests use" in ended.text


def test_rows_of_cases_may_be_the_only_new_tests(tmp_path: Path) -> None:
    files = {
        **FILES,
        "calc.py": FILES["calc.py"].replace("return a + b", "return int(a) + b"),
        "tests/test_calc.py": UNMARKED.partition("\n\n\ndef test_mul")[0] + "\n",
    }
    cases = json.dumps([[1, 2, 3], [0.5, 1, 1.5]])
    write = {"write": {"calc.py": FILES["calc.py"], "tests/cases.json": cases}}
    ended = play(tmp_path, files, "Calc.add must take fractions", [[write, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (0, "DONE"), ended.reason
    assert ended.branch_file("tests/cases.json") == cases


HOOK = "\n\ndef pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'test_add']\n"


@pytest.mark.parametrize(
    "trick",
    [
        HOOK,
        "\n\n@pytest.fixture(autouse=True)\ndef good(monkeypatch):\n    monkeypatch.setattr(Calc, 'add', lambda s, a, b: a + b)\n",
    ],
)
def test_fixtures_that_accepted_tests_would_need_are_put_back(trick: str, tmp_path: Path) -> None:
    broken = MUL.replace("return a + b", "return 4")
    write = {"write": {"calc.py": broken, "conftest.py": CONFTEST + trick, "tests/test_calc.py": UNMARKED}}
    ended = play(tmp_path, FILES, "Teach Calc to multiply: mul", [[write, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED"), ended.reason
    assert "conftest.py" in ended.reason


def test_an_expected_value_that_grows_is_measured_as_it_was_accepted(tmp_path: Path) -> None:
    test = "import json\nfrom pathlib import Path\nfrom calc import table\n\n\ndef test_table():\n    want = json.loads(Path(__file__).with_name('table.json').read_text())\n    assert table() == want\n"
    files = {
        "calc.py": "def table():\n    return [1, 4]\n",
        "tests/test_table.py": test,
        "tests/table.json": "[1, 4]\n",
        "conftest.py": "",
    }
    write = {
        "calc.py": "def table():\n    return [1, 4, 9]\n\n\ndef mul(a, b):\n    return a * b\n",
        "tests/table.json": "[1, 4, 9]\n",
        "tests/test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
    }
    ended = play(tmp_path, files, "Multiply: mul", [[{"write": write}, FINISHED]], *GATE)
    assert (ended.exit_code, ended.decision) == (3, "BLOCKED"), ended.reason
    assert "tests/table.json" in ended.reason
    assert ended.reason.endswith("--may-change tests/table.json")


CARGO = {
    "Cargo.toml": '[package]\nname = "geo"\nversion = "0.1.0"\nedition = "2021"\n',
    ".gitignore": "target\nCargo.lock\n",
    "src/lib.rs": "pub fn area(a: u32) -> u32 {\n    a * a\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
    "    #[test]\n    fn two() {\n        assert_eq!(area(2), 4);\n    }\n}\n",
}
RUSTUP = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
AROUND = "pub fn around(a: u32) -> u32 {\n    4 * a\n}\n"
CHECKED = "    #[test]\n    fn all_around() {\n        assert_eq!(around(2), 8);\n    }\n"


@pytest.mark.req("C19")
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_a_test_within_the_changed_source_shows_that_it_fails_without_the_change(tmp_path: Path) -> None:
    product, tests = CARGO["src/lib.rs"].split("#[cfg(test)]")
    inside = tests.removesuffix("}\n")
    source = f"{product}{AROUND}\n#[cfg(test)]{inside}\n{CHECKED}}}\n"
    turn: list[Action] = [{"write": {"src/lib.rs": source}}, FINISHED]
    ended = play(tmp_path, CARGO, "Add around", [turn], "--gate", f"test=RUSTUP_HOME={RUSTUP} cargo test --offline")
    assert (ended.exit_code, ended.decision, ended.status["tricks"]) == (0, "DONE", []), ended.reason
    assert "fails without the change" in ended.reason
