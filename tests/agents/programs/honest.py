"""Works as asked, stage by stage, on the sample repository. `--turns N` spreads GREEN over N turns.

The other programs of this folder are this one with a stage of their own. All state is the tree: a turn looks at what is there.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path("tests/test_features.py")
PRODUCT = Path("calc/__init__.py")
RECORD = Path("docs/decisions/0001-plain-functions.md")

# What each feature is: its parameters, a line of code, a line of a test.
FEATURES = {
    "multiply": ("a, b", "return a * b", "assert calc.multiply(6, 7) == 42"),
    "divide": (
        "a, b",
        "if b == 0:\n        raise ValueError('cannot divide by zero')\n    return a / b",
        "assert calc.divide(9, 3) == 3",
    ),
    "power": ("a, b", "return a**b", "assert calc.power(2, 10) == 1024"),
    "remainder": ("a, b", "return a % b", "assert calc.remainder(7, 4) == 3"),
    "negate": ("a", "return -a", "assert calc.negate(5) == -5"),
    "square": ("a", "return a * a", "assert calc.square(9) == 81"),
    "halve": ("a", "return a / 2", "assert calc.halve(9) == 4.5"),
}
PLAN = (
    "### Acceptance Criteria\n"
    "- [ ] multiply(6, 7) gives 42\n"
    "- [ ] divide(9, 3) gives 3, and dividing by zero raises ValueError\n"
    "- [ ] power(2, 10) gives 1024\n"
)

Report = dict[str, Any]
Stage = Callable[[str], Report | None]


def plan(prompt: str) -> Report:
    return {"status": "complete", "exit_signal": True, "plan": PLAN, "summary": "wrote the criteria"}


def red(prompt: str) -> Report:
    named = sorted({int(n) for n in re.findall(r"^- AC-(\d+):", prompt, re.MULTILINE)})
    own = os.environ["FLYBALL_STAGE"] == "RED" and not named
    numbers = named or ([1, 2, 3] if own else [1])
    tests = [
        f"def test_ac_{n}_{name}():\n    {FEATURES[name][2]}\n" for n, name in zip(numbers, FEATURES, strict=False)
    ]
    if len(numbers) > 1:
        tests.append(
            "def test_ac_2_dividing_by_zero():\n    with pytest.raises(ValueError):\n        calc.divide(1, 0)\n"
        )
    TESTS.write_text("import pytest\n\nimport calc\n\n\n" + "\n\n".join(tests))
    return {**finished("wrote a test for each criterion"), **({"plan": PLAN} if own else {})}


def green(prompt: str) -> Report:
    missing = wanted()
    share = max(1, -(-len(asked()) // turns()))
    for name in missing[:share]:
        implement(name)
    if wanted():
        return {"status": "in_progress", "exit_signal": False, "summary": f"wrote {', '.join(missing[:share])}"}
    return finished("wrote what the tests ask for")


def implement_all(prompt: str) -> Report:
    """Where one role does everything: the tests, unless they are there, and what they ask for."""
    if not TESTS.exists():
        red(prompt)
    return green(prompt)


def refactor(prompt: str) -> Report:
    return finished("nothing is worth improving")


def document(prompt: str) -> Report:
    names = ", ".join(f"`{name}`" for name in asked())
    add_once(Path("README.md"), f"\nIt can also {names}.\n")
    add_once(Path("CHANGELOG.md"), f"- {names}\n")
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(f"# Plain functions\n\nAccepted. {names} are plain functions: there is no state to keep.\n")
    decision = {"title": "plain functions", "context": "a calculator has no state", "choice": "functions, no class"}
    return {**finished("documented it"), "decisions": [decision]}


def qa(prompt: str) -> Report:
    return {**finished("read the code and ran the tests"), "verdict": "pass", "findings": []}


def asked() -> list[str]:
    text = TESTS.read_text() if TESTS.exists() else ""
    return [name for name in FEATURES if f"calc.{name}(" in text]


def wanted() -> list[str]:
    return [name for name in asked() if f"def {name}(" not in PRODUCT.read_text()]


def implement(name: str) -> None:
    parameters, code, _ = FEATURES[name]
    with PRODUCT.open("a") as file:
        file.write(f'\n\ndef {name}({parameters}):\n    """{name.capitalize()} the given numbers."""\n    {code}\n')


def add_once(path: Path, text: str) -> None:
    if text not in path.read_text():
        with path.open("a") as file:
            file.write(text)


def finished(summary: str) -> Report:
    return {"status": "complete", "exit_signal": True, "summary": summary}


def turns() -> int:
    return int(sys.argv[sys.argv.index("--turns") + 1]) if "--turns" in sys.argv else 1


def report(content: Report) -> None:
    content = {"nonce": os.environ["FLYBALL_NONCE"], **content}
    Path(os.environ["FLYBALL_REPORT_FILE"]).write_text(json.dumps(content))


STAGES: dict[str, Stage] = {
    "RED": red,
    "GREEN": green,
    "REFACTOR": refactor,
    "DOCUMENT": document,
    "QA": qa,
    "IMPLEMENT": implement_all,
    "REVIEW": qa,
}


def main(**others: Stage) -> None:
    """Do this turn's stage; `others` stand in for the honest way in the stages they name, or, as `every`, in all."""
    prompt = sys.stdin.read()
    stage = os.environ["FLYBALL_STAGE"]
    if os.environ["FLYBALL_ROLE"] == "planner":
        act: Stage = others.get("PLAN", plan)
    else:
        act = others.get("every") or others.get(stage) or STAGES[stage]
    said = act(prompt)
    if said is not None:
        report(said)
        print(said.get("summary", ""))


if __name__ == "__main__":
    main()
