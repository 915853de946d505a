"""An accepted shell test that is made to fail at its end: if its gate passes all the same, the test never came to its end."""

import re
from collections.abc import Iterable
from pathlib import Path

from flyball.core.model.measurement import Trick
from flyball.measures.sources import looks_like_test
from flyball.measures.tampering.probes import Probe, is_shell

_END = re.compile(r"\s*exit\b.*")
_LEAVES = re.compile(r"\bexit(?:\s+0|\s+[\"$]|\s*$)|\bexec\b|\bshunit2\b|\bdone_testing\b", re.MULTILINE)
_TAIL = "\necho 'not ok 999 - planted by flyball: this test must fail'\nexit 1\n"


def planted(preferred: Iterable[str], tree: Path) -> Probe | None:
    """The first test script among some files that can only end at its end or with a failure, made to fail there."""
    for path in preferred:
        file = tree / path
        if not looks_like_test(path) or file.is_symlink() or not file.is_file():
            continue
        source = file.read_bytes()
        if not is_shell(path, source):
            continue
        lines = source.decode("utf-8", "replace").rstrip().splitlines()
        if lines and _END.fullmatch(lines[-1]):
            lines.pop()
        body = "\n".join(lines)
        if not _LEAVES.search(body):
            return Probe(path, (body + _TAIL).encode(), file.stat().st_mode & 0o777)
    return None


def missed(probe: Probe, gate: str) -> Trick:
    """What it means that a gate passed with it."""
    return Trick(
        "exit-forced", gate, f"{probe.path} was made to fail at its end and passed: what it tests ends it before"
    )
