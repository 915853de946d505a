"""A test runner in milliseconds, for loops that are not about pytest: small_gate.py REPORT.

It calls every test function of tests/test_*.py, and knows as much of pytest as the samples' tests use.
"""

import contextlib
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def raises(kind: type[BaseException]) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def main(report: Path) -> int:
    sys.path.insert(0, ".")
    sys.dont_write_bytecode = True
    sys.modules["pytest"] = types.SimpleNamespace(raises=raises)  # type: ignore[assignment]
    cases = {(path, name): failure for path in sorted(Path("tests").glob("test_*.py")) for name, failure in run(path)}
    said = "".join(
        f'<testcase classname="{".".join(path.with_suffix("").parts)}" name="{name}" file="{path}">'
        + (f'<failure message="{escape(failure.splitlines()[-1])}">{escape(failure)}</failure>' if failure else "")
        + "</testcase>"
        for (path, name), failure in cases.items()
    )
    report.write_text(f'<testsuite name="small">{said}</testsuite>')
    failures = [f"FAILED {path}::{name}\n{failure}" for (path, name), failure in cases.items() if failure]
    print("\n".join(failures) or f"{len(cases)} passed")
    return 1 if failures or not cases else 0


def run(path: Path) -> Iterator[tuple[str, str]]:
    """Each test of a file and how it failed; a file that cannot be loaded is a failed test."""
    module: dict[str, Any] = {"__name__": path.stem}
    if failure := failed(lambda: exec(compile(path.read_text(), path, "exec"), module)):
        yield path.stem, failure
    else:
        yield from ((name, failed(test)) for name, test in tuple(module.items()) if name.startswith("test_"))


def failed(deed: Callable[[], object]) -> str:
    """How a deed failed, in full; nothing if it did not."""
    try:
        deed()
    except Exception:  # noqa: BLE001 - a test may raise anything
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
