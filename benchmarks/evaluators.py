"""What the evaluators find: planted defects, false alarms on clean twins, and what they hold against real packages.

    python benchmarks/evaluators.py                     planted projects and their twins
    python benchmarks/evaluators.py --blind             the same, planted by someone who had not read the rules
    python benchmarks/evaluators.py --second            a second such set, by someone else, a project for each language
    python benchmarks/evaluators.py --variants          defects of kinds that were missed, in other forms
    python benchmarks/evaluators.py --packages          packages of the registries, as if a track had just written them
    python benchmarks/evaluators.py ui-ux --list        one evaluator, every finding

Only what needs no model is run. A planted defect is found if its pass has a finding on its line, or for a page, one that names it.
A blind defect may name several files and texts, since who planted it could not know which of them a rule points at; "" is the page.
A fifth entry of a defect says why no tool can tell it from good work: it is left to the judge of its pass, and counted apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from flyball import process
from flyball.config.home import environment
from flyball.core.evaluation.findings import Changes, TrackDefect
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.measures.evaluators.ground import CoverageLines, TrackGround
from flyball.measures.evaluators.running import run_evaluator
from flyball.measures.gates.coverage import PLACEHOLDER, read_coverage
from flyball.measures.gates.junit import TreeIndex
from flyball.workspace.sandbox import Unconfined

HERE = Path(__file__).parent / "evaluators"
CACHE = Path(tempfile.gettempdir()) / "flyball-benchmark-cache"
EVALUATORS = ("code-quality", "integration", "business-logic", "ui-ux")
SETS = {
    "blind": "the projects planted without knowing the rules",
    "second": "the second set of such projects",
    "variants": "the projects with other forms of what was missed",
}
TYPESCRIPT = "typescript@5.9.3"
PACKAGES = (
    ("itsdangerous", ["pip", "download", "--no-deps", "--only-binary", ":all:", "itsdangerous==2.2.0"]),
    ("click", ["pip", "download", "--no-deps", "--only-binary", ":all:", "click==8.1.8"]),
    ("mitt", ["npm", "pack", "mitt@3.0.1"]),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("evaluators", nargs="*", default=EVALUATORS)
    parser.add_argument("--packages", action="store_true", help="look at packages of the registries instead")
    parser.add_argument("--list", action="store_true", help="show every finding")
    for name, what in SETS.items():
        parser.add_argument(f"--{name}", action="store_const", const=name, dest="set", default="", help=what)
    asked = parser.parse_args()
    if asked.packages:
        look_at_packages(show=asked.list)
        return
    print("| evaluator | planted | measured | found | missed | left to a judge | false alarms | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    notes: list[str] = []
    for name in asked.evaluators:
        for project in projects_of(HERE / asked.set / name):
            notes += row(name, project, show=asked.list)
    print("\n".join(("", *notes)))


def projects_of(folder: Path) -> list[Path]:
    """The project of an evaluator, or its projects, one for each language."""
    return sorted(path.parent for path in (*folder.glob("defects.json"), *folder.glob("*/defects.json")))


def row(evaluator: str, project: Path, *, show: bool) -> list[str]:
    name = evaluator if project.name == evaluator else f"{evaluator}/{project.name}"
    planted = json.loads((project / "defects.json").read_text())
    found, seconds = evaluated(evaluator, project, "planted")
    alarms, more = evaluated(evaluator, project, "clean")
    root = project / "planted"
    measured, judged = parted(planted)
    missed = [each for each in measured if not any(is_found(each, *one, root) for one in found)]
    counts = (len(planted), len(measured), len(measured) - len(missed), len(missed), len(judged), len(alarms))
    print(f"| {name} | {' | '.join(map(str, counts))} | {seconds:.1f} + {more:.1f} |")
    lines = [f"{name}: missed: {each[0]}: {each[3]} ({each[1]}: {each[2]})" for each in missed]
    lines += [f"{name}: left to a judge: {each[0]}: {each[3]}: {each[4]}" for each in judged]
    lines += [f"{name}: false alarm: {told(*one)}" for one in alarms]
    return lines + ([f"{name}: found: {told(*one)}" for one in found] if show else [])


def parted(planted: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """The defects that measuring has to find, and those that say why a judge must."""
    return [each for each in planted if len(each) < 5], [each for each in planted if len(each) > 4]


def told(pass_name: str, defect: TrackDefect) -> str:
    return f"{pass_name}: {defect.place} {defect.message} [{defect.rule}]"


def is_found(planted: list[str | list[str]], pass_name: str, defect: TrackDefect, root: Path) -> bool:
    wanted, files, texts = planted[0], listed(planted[1]), listed(planted[2])
    return pass_name == wanted and any(is_at(file, text, defect, root) for file in files for text in texts)


def listed(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def is_at(file: str, text: str, defect: TrackDefect, root: Path) -> bool:
    if not file:
        return text in f"{defect.rule} {defect.message}".lower()
    if defect.file != file:
        return False
    lines = (root / file).read_text().split("\n")
    places = [number for number, line in enumerate(lines, start=1) if text in line]
    return any(defect.line <= place <= max(defect.line, defect.end_line) for place in places)


def evaluated(evaluator: str, project: Path, kind: str) -> tuple[list[tuple[str, TrackDefect]], float]:
    """The findings on one of the two versions of a project."""
    with tempfile.TemporaryDirectory() as made:
        base, head = Path(made, "base"), Path(made, "head")
        shutil.copytree(project / "base", base)
        shutil.copytree(base, head)
        shutil.copytree(project / kind, head, dirs_exist_ok=True)
        settings = project / "track.json"
        options = json.loads(settings.read_text()) if settings.is_file() else {}
        gate = options.pop("gate", "")
        coverage = covered(gate, head, Path(made)) if gate else None
        for tree in (base, head):
            install_compiler(tree)
        return run(evaluator, base, head, Path(made), EvaluatorOptions(**options), coverage)


def covered(gate: str, head: Path, folder: Path) -> CoverageLines:
    """What the project's tests run, by its gate with {coverage}, as a track's evaluation learns it."""
    files, report = tuple(files_of(head)), folder / "coverage.xml"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    variables = {**os.environ, "PATH": path, "COVERAGE_FILE": str(folder / "coverage"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = gate.replace(PLACEHOLDER, str(report))
    subprocess.run(["/bin/sh", "-c", command], cwd=head, env=variables, check=True, capture_output=True)
    shutil.rmtree(head / ".pytest_cache", ignore_errors=True)
    return CoverageLines(read_coverage(report, TreeIndex(files)))


def install_compiler(tree: Path) -> None:
    """The compiler that a project with a tsconfig.json has among its packages."""
    if (tree / "tsconfig.json").is_file():
        packages = CACHE / "packages"
        if not (packages / "node_modules" / "typescript").is_dir():
            command = ["npm", "install", "--prefix", str(packages), "--no-audit", "--no-fund", TYPESCRIPT]
            subprocess.run(command, check=True, capture_output=True)
        (tree / "node_modules").symlink_to(packages / "node_modules")


def run(
    name: str,
    base: Path,
    head: Path,
    folder: Path,
    options: EvaluatorOptions,
    coverage: CoverageLines | None = None,
) -> tuple[list[tuple[str, TrackDefect]], float]:
    product = head / "conductor" / "product.md"
    before = base / "conductor" / "product.md"
    ground = TrackGround(
        name,
        str(base),
        str(folder / "scratch" / name / "tools"),
        tuple(files_of(head)),
        tuple(files_of(base)),
        changes(base, head),
        options=options,
        product=product.read_text() if product.is_file() else "",
        product_file="conductor/product.md" if product.is_file() else "",
        base_product=before.read_text() if before.is_file() else "",
        coverage=coverage,
        shots=str(folder / "shots"),
        cache=str(CACHE),
    )
    began = time.monotonic()
    answer = run_evaluator(
        ground, folder / "run", tree=head, confine=Unconfined(), environment=environment(), stop=process.StopFlag()
    )
    seconds = time.monotonic() - began
    if isinstance(answer, str):
        sys.exit(f"{name}: {answer}")
    for each in answer:
        if each.status == "fail" and each.reason:
            print(f"{name}: {each.name}: {each.reason}", file=sys.stderr)
    return [(each.name, one) for each in answer for one in each.findings], seconds


def files_of(root: Path) -> Iterator[str]:
    return (str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file())


def changes(base: Path, head: Path) -> Changes:
    """Lines that differ, as git sees them."""
    spans: dict[str, list[tuple[int, int]]] = {}
    command = ["git", "diff", "--no-index", "-U0", "--no-color", "--no-prefix", str(base), str(head)]
    path = ""
    for line in subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines():
        if line.startswith("+++ "):
            path = line[4:].strip('"').removeprefix(f"{head}/".lstrip("/")).removeprefix(f"{head}/")
        elif line.startswith("@@") and path:
            start, _, length = line.split("+")[1].split(" ")[0].partition(",")
            first, many = int(start), int(length or 1)
            spans.setdefault(path, []).append((first, first + many - 1) if many else (first, first + 1))
    return Changes({name: tuple(places) for name, places in spans.items()})


def look_at_packages(*, show: bool) -> None:
    print("| package | evaluator | findings | seconds |")
    print("|---|---|---|---|")
    lines: list[str] = []
    for package, command in PACKAGES:
        with tempfile.TemporaryDirectory() as made:
            base, head = Path(made, "base"), Path(made, "head")
            base.mkdir()
            unpack(command, head, Path(made, "archive"))
            for name in EVALUATORS:
                found, seconds = run(name, base, head, Path(made, name), EvaluatorOptions())
                print(f"| {package} | {name} | {len(found)} | {seconds:.1f} |")
                lines += [f"{package}: {told(*one)}" for one in found]
    print("\n".join(("", *lines)) if show else "")


def unpack(command: list[str], head: Path, folder: Path) -> None:
    folder.mkdir()
    words = [sys.executable, "-m", *command] if command[0] == "pip" else command
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    archive = next(path for path in folder.iterdir() if path.suffix in (".whl", ".tgz"))
    shutil.unpack_archive(archive, folder / "open", "zip" if archive.suffix == ".whl" else "gztar")
    inner = folder / "open" / "package"
    shutil.copytree(inner if inner.is_dir() else folder / "open", head)


if __name__ == "__main__":
    main()
