"""Baseline, broken gates, known failures, flakes, and what a run is worth."""

import os
import sys
from threading import Thread

import pytest
from msgspec.structs import replace
from tests.measures.conftest import MUL, PYTEST

from flyball.core.model.task import Gate
from flyball.measures.gates.running import (
    COMMAND_MISSING,
    RUNNER_FAILED,
    TIMED_OUT,
)

pytestmark = pytest.mark.slow

FAILING = "def test_bad():\n    assert 0\n"

INSTALL = "cat cfg/pins; mkdir -p .venv; touch .venv/$(ls .venv | wc -l)\n"


@pytest.mark.req("C7")
def test_the_baseline_keeps_every_test_and_how_it_ended(new_lab) -> None:
    lab = new_lab({"tests/test_bad.py": FAILING + "\n\ndef test_good():\n    pass\n"})
    measured = lab.measure("baseline")
    assert lab.tests(measured) == {
        "tests/test_old.py::test_add": "passing",
        "tests/test_bad.py::test_bad": "failing",
        "tests/test_bad.py::test_good": "passing",
    }
    assert measured.counts.known_failing == 1
    assert measured.counts.failing == 0
    assert measured.failing == ()
    assert not measured.broken
    assert any("tests/test_bad.py::test_bad" in note for note in measured.notes)


@pytest.mark.req("C7")
def test_known_failures_do_not_fail_the_gate_and_may_not_grow(new_lab) -> None:
    lab = new_lab({"tests/test_bad.py": FAILING})
    lab.baseline_ref = lab.accepted_ref = lab.measure("baseline").tests_ref
    measured = lab.measure("green", {"other.py": "X = 1\n"})
    assert measured.gates[0].exit_code == 1
    assert measured.gates[0].passed
    assert measured.green_runs == 2
    assert measured.counts.known_failing == 1
    measured = lab.measure("green", {"tests/test_worse.py": "def test_worse():\n    assert 0\n"})
    assert measured.failing == ("tests/test_worse.py::test_worse",)
    assert not measured.gates[0].passed


@pytest.mark.req("C7")
@pytest.mark.parametrize(
    ("command", "files", "why"),
    [
        ("no-such-runner --all", {}, COMMAND_MISSING),
        (f"{sys.executable} -S -m pytest", {}, COMMAND_MISSING),
        ("PYTEST --no-such-option", {}, RUNNER_FAILED),
    ],
)
def test_a_gate_that_cannot_run_is_broken_at_the_baseline(new_lab, command, files, why) -> None:
    lab = new_lab(files)
    lab.gates(Gate("test", command.replace("PYTEST", lab.settings.gates[0].command), 600.0))
    measured = lab.measure("baseline")
    assert measured.gates[0].broken.startswith(why), measured.gates[0]
    assert measured.broken.startswith("test: ")


@pytest.mark.req("C7")
@pytest.mark.parametrize("files", [{}, {"tests/test_old.py": "X = 1\n"}], ids=["none", "nothing in the file"])
def test_a_suite_without_tests_stops_nothing(new_lab, files) -> None:
    measured = new_lab({"calc.py": "X = 1\n", **files}, bare=True).measure("baseline")
    assert not measured.broken
    assert measured.counts.total == 0


@pytest.mark.req("C7")
def test_a_test_file_that_cannot_be_loaded_is_a_failing_test_at_the_baseline(new_lab) -> None:
    measured = new_lab({"tests/test_old.py": "import nothing_of_that_name\n"}).measure("baseline")
    assert not measured.broken
    assert (measured.counts.passing, measured.counts.known_failing) == (0, 1)


@pytest.mark.req("C7")
def test_a_gate_that_hangs_is_ended_and_broken(lab) -> None:
    lab.gates(Gate("test", "sleep 60 & sleep 60", 0.5))
    measured = lab.measure("baseline")
    assert measured.gates[0].broken == f"{TIMED_OUT} after 0.5 s"


@pytest.mark.req("C7")
def test_no_gate_at_all_is_broken_and_never_green(lab) -> None:
    lab.gates()
    measured = lab.measure("green")
    assert "no gate is configured" in measured.broken
    assert measured.green_runs == 0


@pytest.mark.req("C42")
def test_a_baseline_whose_runner_hides_failures_is_broken(new_lab) -> None:
    hook = "def pytest_runtest_makereport(item, call):\n    from _pytest.reports import TestReport\n    report = TestReport.from_item_and_call(item, call)\n    report.outcome = 'passed'\n    report.longrepr = None\n    return report\n"
    lab = new_lab({"conftest.py": hook})
    assert "report-forged" in lab.measure("baseline").broken


@pytest.mark.req("C42")
def test_a_baseline_that_tests_an_installed_copy_is_broken_and_says_where(new_lab, tmp_path) -> None:
    lab = new_lab()
    place = tmp_path / "installed" / "site-packages"
    place.mkdir(parents=True)
    (place / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    lab.gates(
        Gate("test", f"PYTHONPATH={place} {lab.settings.gates[0].command}".replace("-m pytest", "-P -m pytest"), 600.0)
    )
    broken = lab.measure("baseline").broken
    assert "wrong-tree" in broken
    assert str(place) in broken


@pytest.mark.req("C41")
def test_a_flake_fails_the_gate_and_is_reported(lab) -> None:
    coin = lab.home / "coin"
    text = f"import pathlib\n\n\ndef test_coin():\n    coin = pathlib.Path({str(coin)!r})\n    seen = coin.exists()\n    coin.touch()\n    assert not seen\n"
    measured = lab.measure("green", {"tests/test_coin.py": text})
    assert measured.flaky == ("tests/test_coin.py::test_coin",)
    assert measured.green_runs == 1


@pytest.mark.req("C41")
def test_a_failing_run_is_not_repeated_and_has_a_signature(lab) -> None:
    measured = lab.measure("green", {"calc.py": "def add(a, b):\n    return 0\n"})
    assert measured.green_runs == 0
    assert measured.failing == ("tests/test_old.py::test_add",)
    assert measured.signature is not None
    assert len([line for kind, line in lab.said if kind == "command"]) == 1


@pytest.mark.req("C41")
def test_zero_of_zero_tests_is_not_green(new_lab) -> None:
    lab = new_lab({"calc.py": "X = 1\n"}, bare=True)
    lab.forget_tests()
    measured = lab.measure("green")
    assert measured.green_runs == 0
    assert not measured.gates[0].passed
    assert measured.gates[0].counts is not None
    assert measured.counts.total == 0


@pytest.mark.req("C31")
def test_a_command_without_a_report_is_judged_by_its_exit_code_and_says_so(lab) -> None:
    lab.forget_tests()
    lab.gates(Gate("check", "test -f calc.py", 600.0))
    measured = lab.measure("gates")
    assert measured.gates[0].passed
    assert measured.gates[0].counts is None
    assert any("exit code alone" in note for note in measured.notes)
    lab.gates(Gate("check", "echo wrong; exit 3", 600.0))
    measured = lab.measure("gates")
    assert not measured.gates[0].passed
    assert measured.gates[0].output == "wrong\n"
    assert measured.signature is not None


@pytest.mark.req("C31")
def test_any_runner_that_writes_junit_is_counted(lab) -> None:
    xml = '<testsuite><testcase classname="a" name="b"/><testcase classname="a" name="c"><failure message="no"/></testcase></testsuite>'
    lab.gates(Gate("js", f"printf '%s' '{xml}' > {{junit}}; exit 1", 600.0))
    lab.forget_tests()
    measured = lab.measure("gates")
    assert (measured.counts.total, measured.counts.passing, measured.failing) == (2, 1, ("a::c",))


@pytest.mark.req("C42")
def test_a_report_that_was_asked_for_and_not_written_is_named_report_missing(lab) -> None:
    lab.gates(Gate("js", "true {junit}", 600.0))
    measured = lab.measure("gates")
    assert [t.kind for t in measured.tricks] == ["report-missing"]
    assert not measured.gates[0].passed


@pytest.mark.req("C42")
def test_a_report_lying_in_the_tree_is_not_taken_for_a_fresh_one(lab) -> None:
    command = f"{lab.settings.gates[0].command} --junitxml=report.xml"
    lab.gates(Gate("test", command, 600.0))
    xml = '<testsuite><testcase classname="tests.test_old" name="test_add"/></testsuite>'
    measured = lab.measure("green", {"report.xml": xml, "calc.py": "def add(a, b):\n    return 0\n"})
    assert measured.failing == ("tests/test_old.py::test_add",)


def test_the_outside_environment_does_not_reach_the_gate(lab) -> None:
    lab.gates(Gate("env", "env; exit 1", 600.0))
    shown = lab.measure("gates").gates[0].output
    assert "PYTHONPATH" not in shown
    assert "--collect-only" not in shown
    assert "PATH=" in shown


def test_only_the_candidate_what_set_up_made_and_what_is_carried_lie_in_the_gate(lab) -> None:
    (lab.repository / ".env").write_text("A=1\n")
    (lab.repository / "stray.txt").write_text("x\n")
    lab.settings = replace(
        lab.settings, carry=(".env",), setup="mkdir -p node_modules && echo > node_modules/m && echo > junk"
    )
    lab.gates(Gate("list", "ls -A; touch left-over; exit 1", 600.0))
    lab.measure("baseline")
    shown = lab.measure("gates").gates[0].output.split()
    made = ["junk", "node_modules"]
    assert sorted(shown) == sorted([".env", ".gitignore", "calc.py", *made, "pyproject.toml", "tests"])


def test_setup_runs_at_the_baseline_and_again_only_when_a_manifest_changed(lab) -> None:
    count = lab.home / "setups"
    lab.settings = replace(lab.settings, setup=f"echo x >> {count}", gates=(Gate("ok", "true", 600.0),))
    lab.measure("baseline")
    lab.measure("gates", {"calc.py": "X = 1\n"})
    assert count.read_text() == "x\n"
    lab.measure("gates", {"requirements.txt": "a\n"})
    assert count.read_text() == "x\nx\n"
    lab.measure("gates")
    assert count.read_text() == "x\nx\n"


@pytest.mark.req("C43")
def test_an_environment_is_built_from_empty_when_what_set_up_read_changes_and_only_then(new_lab) -> None:
    lab = new_lab({"Makefile": "env:\n\tsh tools/install.sh\n", "tools/install.sh": INSTALL, "cfg/pins": "c\n"})
    lab.settings = replace(lab.settings, setup="make -s env", gates=(Gate("ok", "ls .venv; true", 600.0),))
    lab.measure("baseline")
    place = lab.home / "gate" / "task" / ".venv"
    (place / "dropped").touch()
    lab.measure("gates", {"calc.py": "X = 2\n", "README.md": "new\n", "notes/plan.txt": "new\n"})
    assert (place / "dropped").exists(), "nothing that matters has changed"
    lab.measure("gates", {"cfg/pins": "new\n"})
    assert [path.name for path in place.iterdir()] == ["0"]


@pytest.mark.req("C43")
def test_what_a_gate_installs_for_itself_is_gone_with_it(lab) -> None:
    lab.gates(Gate("own", "ls -A; mkdir -p node_modules/a sub/venv", 600.0))
    lab.measure("gates", {"calc.py": "X = 1\n"})
    assert "node_modules" not in lab.measure("gates").gates[0].output


def test_a_setup_that_fails_is_a_broken_gate(lab) -> None:
    lab.settings = replace(lab.settings, setup="echo no such package; exit 1")
    measured = lab.measure("baseline")
    assert measured.broken == "setup: the setup command failed: exit 1: no such package"
    assert "no such package" in measured.gates[0].output


@pytest.mark.req("C7")
@pytest.mark.parametrize("code", [1, 9])
def test_a_runner_that_writes_no_report_on_the_untouched_tree_cannot_run_and_its_own_words_are_named(lab, code) -> None:
    said = "echo; echo 'error: unknown option --reporter-option'; echo; echo bye"
    lab.gates(Gate("test", f"{said}; : {{junit}}; exit {code}", 600.0))
    measured = lab.measure("baseline")
    ended = f"it ended without a report of its tests (exit {code}): error: unknown option --reporter-option"
    assert measured.broken == f"test: {ended}"


def test_huge_and_wild_output_is_bounded_and_scrubbed(lab) -> None:
    noise = "import sys\nsys.stdout.buffer.write(b'\\x1b]0;evil\\x07\\xff\\x00' * 3_000_000)"
    lab.gates(Gate("noise", f'{sys.executable} -c "{noise}"; printf "\\033[31mend\\033[0m"; exit 1', 600.0))
    result = lab.measure("gates").gates[0]
    assert len(result.output) < 9 * 1024
    assert result.output.endswith("end")
    assert "\x1b" not in result.output
    assert os.path.getsize(result.log) > 20_000_000


def test_a_measurement_told_to_stop_ends_at_once_and_knows_nothing(lab) -> None:
    begun = lab.home / "begun"
    os.mkfifo(begun)
    lab.gates(Gate("long", f"echo x > {begun}; sleep 600", 600.0))

    def stop_when_begun() -> None:
        begun.read_text()
        lab.stop.set()

    Thread(target=stop_when_begun, daemon=True).start()
    measured = lab.measure("green")
    assert measured.green_runs == 0
    assert "stopped" in measured.broken


@pytest.mark.req("C51")
def test_a_test_added_after_a_rejection_must_fail_on_the_rejected_tree(lab) -> None:
    lab.write({"calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return b - a\n"})
    lab.rejected = lab.save()
    real = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 1) == 2\n\n\ndef test_idle():\n    assert sub(1, 1) == 0\n"
    fixed = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
    measured = lab.measure("green", {"calc.py": fixed, "tests/test_sub.py": real})
    assert measured.green_runs == 2
    assert measured.passing_on_rejected == ("tests/test_sub.py::test_idle",)


@pytest.mark.req("C31", "C42")
def test_pythons_own_runner_is_judged_by_exit_code_and_by_how_many_tests_it_ran(new_lab) -> None:
    test = "import unittest\n\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(add(1, 1), 2)\n"
    lab = new_lab({"tests/test_old.py": test, "tests/__init__.py": ""})
    lab.forget_tests()
    lab.gates(Gate("unit", f"{sys.executable} -m unittest", 600.0))
    base = lab.measure("baseline")
    assert not base.broken
    assert any("exit code alone" in note for note in base.notes)
    assert lab.measure("green").green_runs == 2
    forced = lab.measure("green", {"calc.py": "import os\n\nos._exit(0)\n"})
    assert [t.kind for t in forced.tricks] == ["exit-forced"]
    assert forced.green_runs == 0
    lab.gates(Gate("unit", f"{sys.executable} -m unittest discover -s tests -p 'none*.py'", 600.0))
    empty = lab.measure("green", {"calc.py": "def add(a, b):\n    return a + b\n"})
    assert not empty.gates[0].passed
    assert empty.green_runs == 0


def test_folders_with_spaces_work(new_lab, tmp_path, monkeypatch) -> None:
    lab = new_lab()
    lab.home = tmp_path / "a folder with 'odd' names"
    lab.gates(Gate("test", f"{lab.settings.gates[0].command} --junitxml={{junit}}", 600.0))
    assert lab.measure("green").green_runs == 2
    lab.gates(
        Gate("test", f"{lab.settings.gates[0].command.partition(' --junit')[0]} --junitxml 'some where.xml'", 600.0)
    )
    assert lab.measure("green").green_runs == 2


def test_all_gates_are_run_and_one_that_fails_is_enough(lab) -> None:
    lab.gates(*lab.settings.gates, Gate("lint", "false", 600.0))
    measured = lab.measure("green")
    assert [gate.passed for gate in measured.gates] == [True, False]
    assert measured.green_runs == 0


@pytest.mark.req("C42")
def test_a_suite_named_by_its_file_has_its_canary_too(lab) -> None:
    lab.gates(Gate("test", f"{lab.settings.gates[0].command} tests/test_old.py", 600.0))
    measured = lab.measure("green")
    assert measured.green_runs == 2, measured.tricks


@pytest.mark.req("C42")
def test_inside_bubblewrap_the_candidate_is_seen_at_the_repositorys_own_path(new_lab, tmp_path) -> None:
    from flyball.workspace import sandbox

    program = sandbox.available()
    if not isinstance(program, str):
        pytest.skip(program.reason)
    root = tmp_path / "project"
    lab = new_lab(confine=sandbox.Confined(program, root, hidden=(tmp_path / "state",)))
    lab.settings = replace(lab.settings, sandbox="bwrap")
    measured = lab.measure(
        "green",
        {
            "tests/test_place.py": f"import calc\n\n\ndef test_place():\n    assert calc.__file__ == {str(root / 'calc.py')!r}\n"
        },
    )
    assert measured.tricks == ()
    assert measured.failing == ()
    assert measured.green_runs == 2


@pytest.mark.req("C30")
def test_after_a_rejection_green_carries_the_criteria_of_qa_so_that_fewer_findings_are_progress(lab) -> None:
    changed = {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"}
    before = lab.measure("green", changed)
    assert before.checks == ()
    lab.rejected = lab.save()
    assert {check.name for check in lab.measure("green", changed).checks} >= {"tests_pass", "changelog"}


@pytest.mark.req("C42")
@pytest.mark.parametrize("code", [1, 7])
def test_a_report_without_a_failure_is_no_green_run_if_the_command_ends_otherwise_than_with_0(green_lab, code) -> None:
    green_lab.gates(Gate("test", f"{PYTEST} && exit {code}", 600.0))
    measured = green_lab.measure("green", {"calc.py": MUL})
    assert (measured.counts.passing, measured.failing) == (5, ())
    assert (measured.gates[0].passed, measured.gates[0].exit_code, measured.green_runs) == (False, code, 0)
