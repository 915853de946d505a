"""Makes one of five parts a turn, honestly, and reports that it has not finished until the last one is there.

`--tests first` writes all tests in a turn of their own, `--tests each` one with each part; without it only a script checks the parts.
`--groundwork N` begins with N turns of modules that the parts need and no test notices.
"""

import sys
from pathlib import Path

from honest import Report, finished, main  # type: ignore[import-not-found]

PARTS = ("alpha", "beta", "gamma", "delta", "epsilon")
FOLDER, TESTS = Path("parts"), Path("tests")


def option(name: str, default: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def write_test(*parts: str) -> None:
    tests = "".join(
        f"def test_{part}():\n    from parts import {part}\n\n    assert {part}.name() == '{part}'\n\n\n"
        for part in parts
    )
    (TESTS / f"test_{'parts' if len(parts) > 1 else parts[0]}.py").write_text(tests)


def implement(prompt: str) -> Report:
    how = option("--tests", "none")
    laid = len(list(FOLDER.glob("ground_*.py")))
    if laid < int(option("--groundwork", "0")):
        above = f"from parts.ground_{laid} import show\n" if laid else "def show(word):\n    return str(word)\n"
        (FOLDER / f"ground_{laid + 1}.py").write_text(above)
        return unfinished(f"laid module {laid + 1} that the parts are built on")
    if how == "first" and not (TESTS / "test_parts.py").exists():
        write_test(*PARTS)
        return unfinished("wrote the tests of all five parts")
    return add_part(how, laid)


def add_part(how: str, laid: int) -> Report:
    missing = [part for part in PARTS if not (FOLDER / f"{part}.py").exists()]
    if missing:
        head = f"from parts.ground_{laid} import show\n\n\n" if laid else ""
        value = f'show("{missing[0]}")' if laid else f'"{missing[0]}"'
        (FOLDER / f"{missing[0]}.py").write_text(f"{head}def name():\n    return {value}\n")
        if how == "each":
            write_test(missing[0])
    if len(missing) > 1:
        return unfinished(f"made {missing[0]}; {len(missing) - 1} parts left")
    return finished("all five parts are there")


def unfinished(summary: str) -> Report:
    return {"status": "in_progress", "exit_signal": False, "summary": summary}


main(IMPLEMENT=implement)
