"""Which modules failing tests lack: what nobody installed, where a set-up is incomplete."""

import re
from collections.abc import Iterable

from flyball.core.text.quantities import first_few, plural
from flyball.measures.gates.junit import Case

_LACKING = re.compile(
    r"(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)|Cannot find (?:module|package) '([^'./][^']*)'"
)
SHOWN = 8


def missing_modules(cases: Iterable[Case]) -> tuple[str, ...]:
    """A remark on the tests that fail because a module is not installed, and what to do about it; none without such tests."""
    lacking = [(case, found) for case in cases if case.outcome == "failing" and (found := _lacking(case))]
    if not lacking:
        return ()
    names = sorted({name for _, found in lacking for name in found})
    tests = plural(len(lacking), "test fails", "tests fail")
    why = f"{tests} on the untouched tree because modules are not installed: {first_few(names, SHOWN)}"
    return (f"{why}; have `setup` install what brings them",)


def _lacking(case: Case) -> frozenset[str]:
    said = _LACKING.findall(f"{case.message}\n{case.text}")
    return frozenset((python or node).partition(".")[0] for python, node in said)
