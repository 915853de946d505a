"""Counts the remarks on honest changes: consecutive releases of packages that many people read.

usage: python benchmarks/remarks.py [--show] [PACKAGE ...]

Sources are fetched by name with pip and kept in `$FLYBALL_PACKAGES` (by default `flyball-packages` in your cache folder).
A release of which pip gets no sources, for example without network, is left out.
"""

import itertools
import os
import re
import statistics
import subprocess
import sys
import tarfile
import venv
from collections import Counter
from pathlib import Path

from flyball.measures.measurer import REMARKS_SHOWN as SHOWN
from flyball.measures.remarks.change import ChangedTree, RemarksMade, make_remarks
from flyball.measures.remarks.patterns import PATTERNS
from flyball.measures.sources import is_code

PACKAGES = (
    *("cachetools", "humanize", "click", "itsdangerous", "markupsafe", "jinja2", "werkzeug", "flask", "requests"),
    *(
        "idna",
        "attrs",
        "pluggy",
        "packaging",
        "more-itertools",
        "tomli",
        "httpx",
        "h11",
        "tenacity",
        "structlog",
        "toolz",
    ),
)
BACK_ENDS = (
    "setuptools",
    "setuptools-scm",
    "wheel",
    "hatchling",
    "hatch-vcs",
    "hatch-fancy-pypi-readme",
    "flit-core",
    "poetry-core",
)
CHANGES = 10
LARGEST = 2 * 1024 * 1024
CACHE = Path(os.environ.get("FLYBALL_PACKAGES") or Path.home() / ".cache" / "flyball-packages") / "releases"


def pip(*words: str) -> subprocess.CompletedProcess[str]:
    """Run pip in an environment that has the back ends, so that no release needs an environment of its own."""
    folder = CACHE / "environment"
    if not folder.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", *BACK_ENDS], check=False, capture_output=True)
    return subprocess.run([folder / "bin" / "pip", *words], check=False, capture_output=True, text=True)


def releases(package: str) -> list[str]:
    """The latest final releases, oldest first."""
    listed = re.search(r"Available versions: (.*)", pip("index", "versions", package).stdout)
    found = listed[1].split(", ") if listed else []
    return [version for version in found if re.fullmatch(r"[\d.]+", version)][: CHANGES + 1][::-1]


def sources(package: str, version: str) -> dict[str, bytes]:
    """The files of a release below its own folder; none where pip does not get them."""
    folder = CACHE / package / version
    if not folder.exists():
        pip(
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "--no-build-isolation",
            "-d",
            str(folder),
            f"{package}=={version}",
        )
        folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, bytes] = {}
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as opened:
            for member in opened:
                held = opened.extractfile(member) if member.isfile() and member.size <= LARGEST else None
                if held is not None:
                    found[member.name.partition("/")[2]] = held.read()
    return found


def remarks_between(old: dict[str, bytes], new: dict[str, bytes]) -> tuple[int, RemarksMade]:
    """How many files of code a release changed, and what is remarked on it."""
    changed = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    made = make_remarks(ChangedTree(old.get, new.get, changed, tuple(new)))
    return sum(is_code(path) for path in changed), made


def main(packages: list[str], *, show: bool) -> None:
    totals: list[tuple[int, int]] = []
    rows: Counter[str] = Counter()
    texts = {row.text: row.name for row in PATTERNS}
    for package in packages:
        versions = [(version, files) for version in releases(package) if (files := sources(package, version))]
        mine: list[tuple[int, int]] = []
        for (before, old), (after, new) in itertools.pairwise(versions):
            files, made = remarks_between(old, new)
            if not files:
                continue
            mine.append((files, len(made.remarks)))
            for remark in made.remarks:
                rows[texts.get(remark.text.partition(" (and")[0], "expected-values")] += 1
                if show:
                    print(f"  {package} {before} -> {after}: {remark.file}:{remark.line}: {remark.text}")
        totals += mine
        print(
            f"{package}: {len(mine)} changes, {sum(f for f, _ in mine)} files, remarks {[count for _, count in mine]}"
        )
    if not totals:
        print("skipped: no release could be fetched")
        return
    small = [count for files, count in totals if files <= 10]
    for name, counts in (
        (f"all {len(totals)} changes", [c for _, c in totals]),
        (f"{len(small)} changes of at most ten files", small),
    ):
        ordered = sorted(counts) or [0]
        ninth = ordered[int(0.9 * (len(ordered) - 1))]
        print(
            f"{name}: median {statistics.median(ordered)}, 90 % have at most {ninth}, {sum(not c for c in ordered)} have none, {sum(c > SHOWN for c in ordered)} more than {SHOWN}"
        )
    print(f"{sum(c for _, c in totals) / sum(f for f, _ in totals):.2f} remarks for each changed file of code")
    print("shown, by row:", ", ".join(f"{name} {count}" for name, count in rows.most_common()))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main([each for each in arguments if each != "--show"] or list(PACKAGES), show="--show" in arguments)
