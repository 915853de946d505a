"""Where nothing is mounted, an agent that breaks the product never comes to DONE over the user's own files."""

import json
import sys
from pathlib import Path

import pytest
from tests.e2e.test_uncounted import flyball
from tests.measures.gates.test_ways_back import PACKAGES, PYTHON, SITE, install, put, run, venv

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.req("C42", "C43")]
GATE = "test=PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 .venv/bin/python -m pytest -q"
REPORT = {"status": "complete", "exit_signal": True, "verdict": "pass", "summary": "done"}
BREAK = "open('src/calcpkg/main.py', 'w').write('def main():\\n    print(0)\\n\\n\\nmain()\\n')\n"
TESTED = "import sys\nsys.path.insert(0, 'src')\nfrom calcpkg.main import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n"


def repository(folder: Path, **more: str) -> Path:
    root = folder / "project"
    put(root, PYTHON | more)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        run(root, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words)
    return root


def agent(root: Path, source: str) -> str:
    program = root.parent / "agent.py"
    told = f"print(json.dumps({REPORT!r} | {{'nonce': os.environ['FLYBALL_NONCE']}}))"
    program.write_text(f"import json\nimport os\n{source}print('```flyball-report')\n{told}\nprint('```')\n")
    return f"{sys.executable} -E -S {program}"


def ask(root: Path, source: str, *more: str):
    words = ["run", "Print the sum in another way", "--workflow", "quick", "--sandbox", "none", "--unattended"]
    return flyball(root, *words, "--agent-command", agent(root, source), "--gate", GATE, *more)


@pytest.mark.parametrize("how", [("-e", "."), (".",)])
def test_a_project_installed_from_the_repository_is_refused_before_any_turn(
    tmp_path: Path, how: tuple[str, ...]
) -> None:
    root = repository(tmp_path)
    install(root, *how)
    done = ask(root, BREAK)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"Gates run in another folder here, and {PACKAGES}/" in done.stderr
    assert json.loads(flyball(root, "list", "--json").stdout) == []
    (root / "flyball.toml").write_text('sandbox = "none"\n')
    assert "leads back to your own tree" in flyball(root, "doctor").stdout


def test_with_a_setup_that_installs_it_there_the_broken_product_is_measured(tmp_path: Path) -> None:
    root = repository(tmp_path)
    install(root, "-e", ".")
    setup = (
        f"{sys.executable} -m venv --without-pip .venv && echo {SITE} > {PACKAGES}/shared.pth"
        " && .venv/bin/python -m pip install -q --no-deps --no-build-isolation -e ."
    )
    done = ask(root, BREAK, "--setup", setup)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "test_adds" in done.stdout


def test_an_honest_agent_with_a_plain_environment_comes_to_done(tmp_path: Path) -> None:
    root = repository(
        tmp_path, **{"tests/test_main.py": TESTED, "src/calcpkg/main.py": "def add(a, b):\n    return a + b\n"}
    )
    venv(root)
    work = (
        "open('src/calcpkg/main.py', 'w').write('def add(a, b):\\n    return a + b\\n\\n\\ndef sub(a, b):\\n    return a - b\\n')\n"
        "open('tests/test_sub.py', 'w').write('import sys\\nsys.path.insert(0, \"src\")\\nfrom calcpkg.main import sub\\n\\n\\n"
        "def test_ac_1_subtracts():\\n    assert sub(3, 2) == 1\\n')\n"
    )
    done = ask(root, work)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "it is not shown that they measured" not in done.stdout
