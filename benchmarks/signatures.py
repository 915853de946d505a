"""Measures failure signatures on real outputs: same failure, same signature; another failure, another signature.

usage: python benchmarks/signatures.py [OUTPUTS ...]

OUTPUTS are JSON or JSON.xz lists of {tool, case, group, pad, out}, or folders of one list for each tool; without any, the
project's own: those the masks were made on (tuning), and those they were not. Every pair of outputs of one tool is one answer:

re-run         one failure, run twice as it was: one fine signature
lines shifted  one failure, run with comment lines above and without: one fine signature
apart          two failures: two fine signatures
coarse         failures of one test or file: one coarse signature
"""

import itertools
import json
import lzma
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from flyball.core.failures.signature import Signature, signature

OWN = Path(__file__).resolve().parents[1] / "tests" / "core" / "failures" / "outputs"
SETS = ("tuning", "held-out", "unseen", "later")
TARGETS = {"re-run": 0.97, "lines shifted": 0.95, "apart": 0.99, "coarse": 0.97}

Sample = dict[str, Any]
Count = tuple[int, int]
Table = dict[str, dict[str, Count]]


def load(path: Path) -> list[Sample]:
    """The samples of one file or of a folder of files named after their tools."""
    if path.is_dir():
        return [sample | {"tool": file.stem} for file in sorted(path.glob("*.json")) for sample in load(file)]
    raw = path.read_bytes()
    samples = json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw)
    return [sample | {"out": text(sample["out"])} for sample in samples]


def text(out: str | list[str]) -> str:
    """An output, kept whole or line by line."""
    return out if isinstance(out, str) else "\n".join(out)


def answers(one: tuple[Sample, Signature], other: tuple[Sample, Signature]) -> Iterator[tuple[str, bool]]:
    """The questions a pair answers, and whether it does so rightly."""
    (sample, signed), (another, signed_other) = one, other
    same = sample["case"] == another["case"]
    alike = signed.fine == signed_other.fine
    if not same:
        yield "apart", not alike
    else:
        yield ("re-run" if sample["pad"] == another["pad"] else "lines shifted"), alike
    if same or ("group" in sample and sample["group"] == another["group"]):
        yield "coarse", signed.coarse == signed_other.coarse


def measure(samples: Iterable[Sample]) -> Table:
    """Pairs that came out right, of all pairs, per tool and question."""
    by_tool: dict[str, list[tuple[Sample, Signature]]] = defaultdict(list)
    for sample in samples:
        by_tool[sample["tool"]].append((sample, signature(sample["out"])))
    table: Table = {}
    for tool, signed in sorted(by_tool.items()):
        counts = {question: [0, 0] for question in TARGETS}
        for one, other in itertools.combinations(signed, 2):
            for question, right in answers(one, other):
                counts[question][0] += right
                counts[question][1] += 1
        table[tool] = {question: (right, total) for question, (right, total) in counts.items()}
    return table


def whole(table: Table) -> dict[str, Count]:
    """All tools together."""
    return {
        question: (sum(row[question][0] for row in table.values()), sum(row[question][1] for row in table.values()))
        for question in TARGETS
    }


def confusions(samples: Iterable[Sample]) -> list[str]:
    """What went wrong, by name."""
    cases: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sample in samples:
        cases[sample["tool"], sample["case"]].add(signature(sample["out"]).fine)
    lines = [f"{tool} {case}: {len(fine)} signatures" for (tool, case), fine in sorted(cases.items()) if len(fine) > 1]
    for (one, fine), (other, others) in itertools.combinations(sorted(cases.items()), 2):
        if one[0] == other[0] and fine & others:
            lines.append(f"{one[0]} {one[1]} and {other[1]}: one signature")
    return lines


def _share(count: Count) -> str:
    right, total = count
    return f"{right / total:.1%} ({right}/{total})" if total else "-"


def show(name: str, samples: list[Sample]) -> None:
    """Prints the table of one set of outputs."""
    table = measure(samples)
    print(f"\n{name}: {len(samples)} outputs of {len({(s['tool'], s['case']) for s in samples})} failures")
    print(f"{'tool':10}" + "".join(f"{f'{question} (≥ {least:.0%})':>26}" for question, least in TARGETS.items()))
    for tool, row in (table | {"all": whole(table)}).items():
        print(f"{tool:10}" + "".join(f"{_share(row[question]):>26}" for question in TARGETS))
    for line in confusions(samples):
        print("  " + line)


def main(paths: list[str]) -> int:
    """Prints a table for each set of outputs."""
    for path in [Path(name) for name in paths] or [OWN / name for name in SETS]:
        show(path.name, load(path))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
