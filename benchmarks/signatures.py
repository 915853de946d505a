"""Measures failure signatures on real outputs: same failure, same signature; another failure, another signature.

usage: python benchmarks/signatures.py OUTPUTS...   (JSON or JSON.xz lists of {tool, case, rep, pad, out})
"""

import itertools
import json
import lzma
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flyball.core.signature import Signature, signature

Sample = dict[str, Any]
Count = tuple[int, int]


def load(path: Path) -> list[Sample]:
    """The samples of one file."""
    raw = path.read_bytes()
    return list(json.loads(lzma.decompress(raw) if path.suffix == ".xz" else raw))


def measure(samples: Iterable[Sample]) -> dict[str, dict[str, Count]]:
    """Pairs that came out right, of all pairs, per tool and question."""
    by_tool: dict[str, list[tuple[Sample, Signature]]] = defaultdict(list)
    for sample in samples:
        by_tool[sample["tool"]].append((sample, signature(sample["out"])))
    table: dict[str, dict[str, Count]] = {}
    for tool, signed in sorted(by_tool.items()):
        counts = {"re-run": [0, 0], "shifted": [0, 0], "apart": [0, 0]}
        for (one, its), (other, others) in itertools.combinations(signed, 2):
            same_case = one["case"] == other["case"]
            question = "apart" if not same_case else "re-run" if one["pad"] == other["pad"] else "shifted"
            counts[question][0] += (its.fine == others.fine) == same_case
            counts[question][1] += 1
        table[tool] = {question: (right, total) for question, (right, total) in counts.items()}
    return table


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
    return f"{right / total:8.1%} ({right}/{total})" if total else f"{'-':>8}"


def main(paths: list[str]) -> int:
    """Prints the table."""
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    samples = [sample for path in paths for sample in load(Path(path))]
    table = measure(samples)
    print(f"{'tool':10} {'re-run (>= 97 %)':>22} {'lines shifted (>= 95 %)':>24} {'apart (>= 99 %)':>22}")
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for tool, counts in table.items():
        print(f"{tool:10} {_share(counts['re-run']):>22} {_share(counts['shifted']):>24} {_share(counts['apart']):>22}")
        for question, (right, total) in counts.items():
            totals[question][0] += right
            totals[question][1] += total
    whole = {question: (right, total) for question, (right, total) in totals.items()}
    print(f"{'all':10} {_share(whole['re-run']):>22} {_share(whole['shifted']):>24} {_share(whole['apart']):>22}")
    for line in confusions(samples):
        print("  " + line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
