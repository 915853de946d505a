"""C8: what set-up creates or changes in the tree is there whenever gates run."""

import pytest
from msgspec.structs import replace

pytestmark = [pytest.mark.req("C8"), pytest.mark.slow]

USES_VERSION = {
    "calc.py": "from _version import NUMBER\n\n\ndef add(a, b):\n    return a + b\n",
    ".gitignore": "__pycache__/\n_version.py\n",
}
WRITES_VERSION = "echo \"NUMBER = '$(cat VERSION.txt)'\" > _version.py"


def test_a_generated_module_that_git_ignores_is_there_at_the_baseline_and_later(new_lab) -> None:
    lab = new_lab({**USES_VERSION, "VERSION.txt": "1\n"})
    lab.settings = replace(lab.settings, setup=WRITES_VERSION)
    measured = lab.measure("baseline")
    assert (measured.counts.passing, measured.counts.known_failing) == (1, 0), measured.gates
    assert lab.measure("gates", {"notes.md": "x\n"}).gates[0].passed


def test_set_up_runs_once_though_it_writes_beside_what_it_reads(new_lab) -> None:
    lab = new_lab({**USES_VERSION, "VERSION.txt": "1\n"})
    lab.settings = replace(lab.settings, setup=f"{WRITES_VERSION}; echo '# read' >> VERSION.txt")
    lab.measure("baseline")
    lab.said.clear()
    assert lab.measure("gates", {"notes.md": "x\n"}).gates[0].passed
    assert WRITES_VERSION not in str(lab.said)


def test_what_an_older_set_up_made_is_gone_when_set_up_runs_anew(new_lab) -> None:
    lab = new_lab({**USES_VERSION, "VERSION.txt": "1\n"})
    lab.settings = replace(lab.settings, setup='grep -q 2 VERSION.txt || echo "NUMBER = 1" > _version.py')
    assert lab.measure("baseline").counts.passing == 1
    assert not lab.measure("gates", {"VERSION.txt": "2\n"}).gates[0].passed


def test_a_tracked_file_that_set_up_changes_is_laid_as_set_up_left_it(new_lab) -> None:
    lab = new_lab(
        {"number.txt": "0\n", "tests/test_old.py": "def test_add():\n    assert open('number.txt').read() != '0\\n'\n"}
    )
    lab.settings = replace(lab.settings, setup="echo 1 > number.txt")
    assert lab.measure("baseline").counts.passing == 1
    assert lab.measure("gates", {"notes.md": "x\n"}).gates[0].passed


def test_a_version_of_their_own_that_the_work_brings_is_measured(new_lab) -> None:
    lab = new_lab({**USES_VERSION, "VERSION.txt": "1\n"})
    lab.settings = replace(lab.settings, setup=f"test -e _version.py || {WRITES_VERSION}")
    lab.measure("baseline")
    broken = {".gitignore": "__pycache__/\n", "_version.py": "NUMBER = (\n"}
    assert not lab.measure("gates", broken).gates[0].passed


def test_what_a_gate_made_of_a_generated_file_does_not_reach_the_next_run(new_lab) -> None:
    writing = "from pathlib import Path\n\n\ndef test_add():\n    here = Path('_version.py')\n    assert here.read_text() == \"NUMBER = '1'\\n\"\n    here.write_text('broken')\n"
    lab = new_lab({**USES_VERSION, "VERSION.txt": "1\n", "tests/test_old.py": writing})
    lab.settings = replace(lab.settings, setup=WRITES_VERSION)
    assert lab.measure("baseline").counts.passing == 1
    assert lab.measure("green", {"notes.md": "x\n"}).green_runs == 2
