"""Test files that must fail, planted where a gate counts nothing: to see whether it runs new ones, and scripts to their end."""

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from flyball.measures.sources import looks_like_test, text_of

MOST = 6
_NAME = "_flyball_probe"
_FINDERS = re.compile(
    r"\b(?:unittest|pytest|go test|gotestsum|cargo|mvnw?|gradlew?|dotnet|rspec|phpunit|bats|jest|vitest|mocha|ava|node --test)\b"
)
_STEM = re.compile(r"(?P<kind>[A-Za-z]*)(?P<rest>.*?)(?P<end>[._-](?:tests?|spec))?")
_SHELL = re.compile(rb"#!.*\b(?:ba|da|k|z)?sh\b")
_NOT_TESTS = re.compile(r"README.*|.*\.(?:md|rst|txt|adoc|json|ya?ml|toml|csv|in|out|expected|snap|golden|mk|gitkeep)")
_SCRIPT = b"#!/bin/sh\necho 'not ok 1 - planted by flyball: this test must fail'\nexit 1\n"
_END = re.compile(r"\s*exit\b.*")
_LEAVES = re.compile(r"\bexit(?:\s+0|\s+[\"$]|\s*$)|\bexec\b|\bshunit2\b|\bdone_testing\b", re.MULTILINE)
_TAIL = "\necho 'not ok 999 - planted by flyball: this test must fail'\nexit 1\n"
NO_PROGRAM = b"planted by flyball: this is no program, so whatever builds or runs it must fail\n"
FALLBACK = "tests/test_flyball_probe.sh"


class Probe(msgspec.Struct, frozen=True):
    path: str
    source: bytes
    mode: int


def _is_shell(path: str, source: bytes) -> bool:
    return path.endswith((".sh", ".bash")) or bool(_SHELL.match(source[:100]))


def finds_tests(command: str) -> bool:
    """Whether a command starts a runner that is known to find new test files by itself."""
    return bool(_FINDERS.search(command))


def probes(files: Iterable[str], tree: Path) -> tuple[Probe, ...]:
    """One for each way test files are named here, beside them; where there is none, a script in a folder of tests."""
    found: dict[tuple[str, str, str, str], Probe] = {}
    for file in sorted(files):
        place = PurePosixPath(file)
        if not looks_like_test(file) or _NOT_TESTS.fullmatch(place.name) or not (tree / file).is_file():
            continue
        stem = _STEM.fullmatch(place.stem)
        kind, rest, end = (stem["kind"], stem["rest"], stem["end"] or "") if stem else (place.stem, "", "")
        key = (str(place.parent), "" if end else kind, end, place.suffix)
        if key not in found:
            script = place.suffix == ".t" or _is_shell(file, (tree / file).read_bytes()[:100])
            path = str(place.with_name(f"{kind}{rest}{_NAME}{end}{place.suffix}"))
            found[key] = Probe(path, _SCRIPT if script else NO_PROGRAM, (tree / file).stat().st_mode & 0o777)
    # Files named as tests are the likeliest to be found; a runner or a helper beside them is named otherwise.
    likeliest = sorted(found.items(), key=lambda entry: not (entry[0][1] in {"test", "tests"} or entry[0][2]))
    return tuple(probe for _, probe in likeliest[:MOST]) or (Probe(FALLBACK, _SCRIPT, 0o755),)


def failing_script(preferred: Iterable[str], tree: Path) -> Probe | None:
    """The first test script among some files that can only end at its end or with a failure, made to fail there.

    If its gate passes all the same, the test never came to its end.
    """
    for path in preferred:
        file = tree / path
        if not looks_like_test(path) or file.is_symlink() or not file.is_file():
            continue
        source = file.read_bytes()
        if not _is_shell(path, source):
            continue
        lines = text_of(source).rstrip().splitlines()
        if lines and _END.fullmatch(lines[-1]):
            lines.pop()
        body = "\n".join(lines)
        if not _LEAVES.search(body):
            return Probe(path, (body + _TAIL).encode(), file.stat().st_mode & 0o777)
    return None
