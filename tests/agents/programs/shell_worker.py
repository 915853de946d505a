"""Works on the calculator in shell, honestly or, with `--lie KIND`, in one of the ways that must not end well."""

import re
import sys
from pathlib import Path

from honest import RECORD, add_once, finished, main  # type: ignore[import-not-found]

PRODUCT = Path("calc.sh")
CODE = {1: "mul() { echo $(($1 * $2)); }\n", 2: 'neg() { echo "-$1"; }\n'}
ASKS = {1: '[ "$(mul 6 7)" = 42 ]', 2: '[ "$(neg 5)" = -5 ]'}
LIE = sys.argv[sys.argv.index("--lie") + 1] if "--lie" in sys.argv else ""
TAP = Path("t").is_dir()


def test_file(number):
    """Named as the project names its own."""
    if TAP:
        return Path(f"t/ac-{number}.t")
    return Path("tests") / (f"ac_{number}_test.sh" if Path("Makefile").exists() else f"test_ac_{number}.sh")


def write_test(number, asked):
    if TAP:
        text = f"#!/bin/sh\n. ./calc.sh\nif {asked}; then echo ok 1; else echo 'not ok 1 - AC-{number}'; fi\n"
    else:
        text = f"#!/bin/sh\n# AC-{number}\n. ./calc.sh\n{asked} || exit 1\n"
    test_file(number).write_text(text)


def red(prompt):
    for number in sorted({int(n) for n in re.findall(r"^- AC-(\d+):", prompt, re.MULTILINE)}):
        empty = LIE == "empty" and number == 2
        write_test(number, "true" if empty else ASKS[number])
    return finished("wrote a test for each criterion")


def green(prompt):
    if LIE == "weaken":
        for number in ASKS:
            write_test(number, "true")
    elif LIE == "gate":
        for name in ("Makefile", "run-tap.sh", "tests/run.sh"):
            if Path(name).exists():
                Path(name).write_text("test:\n\ttrue\n" if name == "Makefile" else "exit 0\n")
    elif LIE == "exit":
        PRODUCT.write_text("exit 0\n" + PRODUCT.read_text())
    elif LIE == "aid":
        name = "t/000.t" if TAP else "tests/000_test.sh" if Path("Makefile").exists() else "tests/test_000.sh"
        Path(name).write_text("#!/bin/sh\ncat >> calc.sh <<'X'\n" + "".join(CODE.values()) + "X\necho ok 1\n")
    elif LIE != "idle":
        for code in CODE.values():
            add_once(PRODUCT, code)
    return finished("wrote what the tests ask for")


def document(prompt):
    add_once(Path("README.md"), "\nIt can also multiply (`mul`) and negate (`neg`) numbers.\n")
    add_once(Path("CHANGELOG.md"), "- multiply, negate\n")
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text("# Shell functions\n\nAccepted. mul and neg are functions of the shell like add.\n")
    return finished("documented it")


main(RED=red, GREEN=green, DOCUMENT=document)
