"""What a run must hold: every accepted test present, none newly skipped, none failing but those that always did."""

import json
from collections.abc import Iterable, Mapping

import msgspec

from flyball.core.text.failing_tests import is_every
from flyball.measures.gates.junit import Case, Outcome
from flyball.measures.sources import is_reported
from flyball.ports import Blobs


def load(blobs: Blobs, ref: str) -> dict[str, Outcome]:
    return msgspec.json.decode(blobs.get(ref), type=dict[str, Outcome]) if ref else {}


def keep(blobs: Blobs, value: Mapping[str, Outcome] | Iterable[str]) -> str:
    """Store a set of outcomes or ids; the same content has the same name."""
    plain = dict(sorted(value.items())) if isinstance(value, Mapping) else sorted(value)
    return blobs.put(json.dumps(plain, ensure_ascii=False).encode("utf-8", "backslashreplace"))


class Expectations(msgspec.Struct, frozen=True):
    """The tests that must be there with how they ended when accepted, and how all ended at the baseline."""

    accepted: dict[str, Outcome]
    baseline: dict[str, Outcome]
    work: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        """The tests that failed before the task began and are no part of the work."""
        if is_every(self.work):
            return frozenset()
        return frozenset(i for i, outcome in self.baseline.items() if outcome == "failing") - self.work

    def outcomes(self, cases: Mapping[str, Case]) -> dict[str, Outcome]:
        """How each test ended; a file that could not be loaded fails every accepted test it holds."""
        ended: dict[str, Outcome] = {i: case.outcome for i, case in cases.items() if not case.uncollected}
        for case in cases.values():
            if case.uncollected:
                held = [i for i in self.accepted if i.startswith(case.file + "::")]
                ended |= dict.fromkeys(held or [case.id], "failing")
        return ended

    def failing(self, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
        """What fails and did not before the task began."""
        return tuple(sorted(i for i, outcome in outcomes.items() if outcome == "failing" and i not in self.known))

    def missing(self, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
        """Accepted tests that did not run. An id without parameters, counted from source, may run with some."""
        functions = {i.partition("[")[0] for i in outcomes}
        files = {i.partition("::")[0] for i in outcomes}
        return tuple(
            i
            for i in sorted(self.accepted)
            if i not in outcomes and not ("[" not in i and i in functions) and not ("::" not in i and i in files)
            if self.accepted[i] != "declared" or not is_reported(i, outcomes)
        )

    def newly_skipped(self, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
        """Accepted tests that are skipped or expected to fail and were not before."""
        skipped = sorted(i for i, outcome in outcomes.items() if outcome in {"skipped", "xfailed"})
        before = {i: self.accepted.get(i) or self.accepted.get(i.partition("[")[0]) for i in skipped}
        return tuple(i for i, was in before.items() if was in {"passing", "failing"})

    def born_skipped(self, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
        """New tests that are skipped or expected to fail."""
        known = {i.partition("[")[0] for i in (*self.accepted, *self.baseline)}
        skipped = (i for i, outcome in outcomes.items() if outcome in {"skipped", "xfailed"})
        return tuple(sorted(i for i in skipped if i.partition("[")[0] not in known))
