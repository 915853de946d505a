"""What an agent names for a criterion is looked up, and what it names as left is passed on."""

import json
from pathlib import Path

import pytest
from tests.e2e.plays import flyball, play

FILES = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}
WORK = {
    "write": {
        "test_mul.py": (
            "import tempfile\n\nfrom calc import add, mul\n\n\ndef test_ac_1():\n    assert mul(2, 3) == 6\n\n\n"
            "def test_ac_2():\n    check(mul(2, 3))\n\n\ndef check(number):\n    assert number == 7, f'not in {tempfile.mkdtemp()}/a/b.txt'\n"
        ),
        "calc.py": FILES["calc.py"] + "\n\ndef mul(a, b):\n    return a * b\n",
    }
}
CRITERIA = {
    "AC-1": "test_mul.py::test_ac_1",
    "AC-2": "test_mul.py::test_ac_2",
    "AC-3": "calc.py:5, test_calc.py",
    "AC-4": "test_mul.py::test_ac_4",
    "AC-5": "calc.py:90",
}
REPORT = {
    "report": {
        "status": "in_progress",
        "exit_signal": False,
        "criteria": [{"id": id, "shown_by": shown_by} for id, shown_by in CRITERIA.items()],
        "left": ["division by zero"],
    }
}


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.req("C2", "C16", "C31")
def test_a_claim_that_names_nothing_is_not_confirmed_and_what_is_left_stands_in_prompt_status_and_report(
    tmp_path: Path,
) -> None:
    ended = play(
        tmp_path, FILES, "Add mul.", [[WORK, REPORT]],
        "--gate", "test=python3 -m pytest -q", "--max-iterations", "1",
    )  # fmt: skip
    root = ended.root
    prompt = flyball(root, "prompt", "implementer").stdout
    measured = prompt.partition("## Measured on this tree\n")[2].partition("\n\n")[0].splitlines()
    assert measured[0] == "test: failed. 2 passed, 1 failed"
    assert measured[1].startswith("- test_mul.py::test_ac_2: AssertionError: not in …/")
    assert measured[1].endswith("(test_mul.py:15)"), "the frame of the project that is nearest to the failure"
    assert [line for line in measured if "AC-" in line] == [
        "Your report says otherwise than the measurement: AC-2: shown by test_mul.py::test_ac_2, which fails",
        "Not confirmed: AC-4: shown by test_mul.py::test_ac_4, which is not there.",
        "Not confirmed: AC-5: shown by calc.py:90, which is not there.",
    ]
    assert measured[-2:] == ["You named as left to do:", "- division by zero"]
    assert str(tmp_path) not in prompt
    assert ended.status["false_claims"] == 0
    status = flyball(root, "status", "--json").stdout
    assert json.loads(status)["left"] == ["division by zero"]
    assert "  left        division by zero" in flyball(root, "status").stdout
    assert "- the last turn names: division by zero" in flyball(root, "report").stdout
