"""What a whole tdd run costs, planted failures included, against another flyball.

    python benchmarks/tdd_run.py OTHER_SRC

OTHER_SRC is the `src` folder of another checkout, for example of an older commit. Both run the same task with the same honest agent on
the same sample, in turns. Processor time of everything that was started is compared, for a loaded machine does not lengthen it. The sample
has a virtual environment, of which agents get a copy.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "agents"))

from sample import make_sample_repository  # noqa: E402 - found by the path above

FEATURES = ("multiply", "divide", "power", "remainder")
RUNS = 3


def processor_s(source: Path, folder: Path) -> float:
    """The processor time of one run from PLAN to DONE by the flyball whose sources are given."""
    folder.mkdir()
    repository = make_sample_repository(folder / "repository")
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=repository, check=True)
    (repository / ".git" / "info" / "exclude").write_text(".venv\n")
    document = folder / "prp.md"
    boxes = "".join(f"- [ ] {name} works\n" for name in FEATURES)
    document.write_text(f"# More\n\nTeach it more.\n\n### Acceptance Criteria\n{boxes}")
    program = HERE.parent / "tests" / "agents" / "programs" / "honest.py"
    agent = f"{sys.executable} {program} --turns {len(FEATURES)}"
    gate = f"test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
    words = ["run", "--workflow", "tdd", "--from", str(document), "--unattended", "--json"]
    words += ["--agent-command", agent, "--gate", gate]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "FLYBALL_HOME": str(folder / "home"),
        "PYTHONPATH": str(source),
    }
    before = _children_s()
    subprocess.run([sys.executable, "-m", "flyball", *words], cwd=repository, env=env, capture_output=True, check=True)
    return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    sources = {"this": HERE.parent / "src", "other": Path(sys.argv[1]).resolve()}
    with tempfile.TemporaryDirectory() as made:
        taken: dict[str, list[float]] = {name: [] for name in sources}
        # In turns: what else the machine does changes processor time, too.
        for n in range(RUNS):
            for name, source in sources.items():
                taken[name].append(processor_s(source, Path(made, f"{name}-{n}")))
    this, other = (statistics.median(taken[name]) for name in ("this", "other"))
    print(f"a tdd run takes {this:.2f} s of processor time, {other:.2f} s with the other: {this / other - 1:+.0%}")


if __name__ == "__main__":
    main()
