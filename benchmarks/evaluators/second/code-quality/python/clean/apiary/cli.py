"""Prints the harvest report: python -m apiary.cli scales.csv"""

from __future__ import annotations

import sys
from pathlib import Path

from apiary.harvest import fill
from apiary.hives import Hive
from apiary.report import Report, line_of
from apiary.weights import latest, readings

HIVES = (Hive(1, 10, 18.0), Hive(2, 12, 20.0))


def main(words: list[str]) -> int:
    if len(words) != 1:
        print("usage: python -m apiary.cli scales.csv", file=sys.stderr)
        return 2
    found = list(readings(Path(words[0]).read_text().splitlines()))
    report = Report()
    weighed = [(hive, latest(found, hive.number)) for hive in HIVES]
    fill(report, [line_of(hive, last.kg) for hive, last in weighed if last])
    print(report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
