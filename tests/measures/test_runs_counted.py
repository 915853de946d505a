"""How often the suite runs: each test twice before work is accepted, and no tree twice as long as nothing has changed."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.measures.conftest import ACCEPTED, MUL, RED, Lab

from flyball.core.model.task import Gate

pytestmark = pytest.mark.req("C18", "C41")

COUNTING = """
def pytest_runtest_logreport(report):
    if report.when == "call":
        with open({log!r}, "a") as file:
            print(report.nodeid, report.outcome, file=file)


def pytest_sessionfinish():
    with open({log!r}, "a") as file:
        print("end", file=file)
"""
OLD = """
    from calc import add


    def test_add():
        assert add(1, 2) == 3


    def test_more():
        assert add(2, 2) == 4
    """


class CountingLab:
    """A lab with one measurer for all measurements, as a task has it, and a gate that says which tests it ran."""

    def __init__(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lab = lab
        self._log = lab.home / "runs.log"
        tools = lab.home / "tools"
        tools.mkdir()
        (tools / "counting.py").write_text(COUNTING.format(log=str(self._log)))
        self.command = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH={tools} {sys.executable} -m pytest -q -p no:cacheprovider -p counting"
        lab.gates(Gate("test", self.command, 600.0))
        monkeypatch.setattr(Lab, "measurer", lab.measurer)

    def runs(self) -> list[set[str]]:
        """The names of the tests of each run since this was asked last."""
        text = self._log.read_text() if self._log.exists() else ""
        self._log.write_text("")
        return [
            {line.split()[0].rpartition("::")[2] for line in run.splitlines() if line}
            for run in text.split("end\n")[:-1]
        ]


@pytest.fixture
def counting(new_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch) -> CountingLab:
    lab = new_lab({"tests/test_old.py": OLD})
    lab.accept(RED, {**ACCEPTED, "tests/test_old.py::test_more": "passing"})
    return CountingLab(lab, monkeypatch)


MANY = {"test_ac_1_many[0-5-0]", "test_ac_1_many[1-7-7]", "test_ac_1_many[-2-3--6]"}
EVERY = {"test_add", "test_more", "test_ac_1_multiplies", *MANY}


@pytest.mark.req("C44")
def test_the_run_with_planted_failures_is_the_second_run_of_all_other_tests(counting: CountingLab) -> None:
    measured = counting.lab.measure("green", {"calc.py": MUL})
    assert (measured.green_runs, measured.tricks, measured.flaky) == (2, (), ())
    assert counting.runs() == [EVERY, EVERY, EVERY - {"test_more"}]


@pytest.mark.req("C44")
def test_the_run_without_a_new_test_file_is_the_second_run_of_the_accepted_tests(
    new_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = new_lab({"tests/test_old.py": OLD})
    counting = CountingLab(lab, monkeypatch)
    measured = lab.measure("green", {"calc.py": MUL, **RED})
    assert (measured.green_runs, measured.tricks) == (2, ())
    new = EVERY - {"test_add", "test_more"}
    assert counting.runs()[:4] == [EVERY, {"test_add", "test_more"}, EVERY - {"test_more"}, new]


def test_an_unchanged_turn_runs_nothing_and_says_where_the_result_is_from(counting: CountingLab) -> None:
    first = counting.lab.measure("green", {"calc.py": MUL})
    counting.runs()
    second = counting.lab.measure("green")
    assert counting.runs() == []
    assert (second.reused, first.reused) == (
        "the gates passed on this tree in measure/1, in the same environment",
        "",
    )
    assert replace(second, reused="", candidate=first.candidate, commands_s=first.commands_s) == first


def test_another_stage_reuses_the_run_on_the_same_tree(counting: CountingLab) -> None:
    counting.lab.measure("green", {"calc.py": MUL})
    counting.runs()
    assert counting.lab.measure("qa").reused
    assert counting.runs() == []


def test_a_changed_file_has_the_gates_run_again(counting: CountingLab) -> None:
    counting.lab.measure("green", {"calc.py": MUL})
    counting.runs()
    assert counting.lab.measure("document", {"notes.md": "More.\n"}).reused == ""
    assert counting.runs()[0] == EVERY


def test_a_changed_gate_has_the_gates_run_again(counting: CountingLab) -> None:
    counting.lab.measure("green", {"calc.py": MUL})
    counting.runs()
    counting.lab.gates(Gate("test", f"{counting.command} -rA", 600.0))
    assert counting.lab.measure("green").reused == ""
    assert counting.runs()[0] == EVERY


@pytest.mark.req("C43")
@pytest.mark.parametrize("what", ["environment", "carried"])
def test_a_changed_environment_has_the_gates_run_again(counting: CountingLab, what: str) -> None:
    lab = counting.lab
    place = lab.repository / {"environment": ".venv/lib/dep.py", "carried": "secrets.env"}[what]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("1\n")
    (lab.repository / ".git/info/exclude").write_text(".venv\nsecrets.env\n")
    lab.settings = replace(lab.settings, carry=("secrets.env",) if what == "carried" else ())
    lab.measure("green", {"calc.py": MUL})
    counting.runs()
    assert lab.measure("green").reused
    place.write_text("22\n")
    assert lab.measure("green").reused == ""
    assert counting.runs()[0] == EVERY


def test_to_measure_again_reuses_nothing(counting: CountingLab) -> None:
    counting.lab.measure("green", {"calc.py": MUL})
    counting.runs()
    counting.lab.settings = replace(counting.lab.settings, measure_again=True)
    for _ in range(2):
        assert counting.lab.measure("green").reused == ""
        assert len(counting.runs()) == 3


def test_what_failed_may_have_failed_over_something_outside_and_is_run_again(counting: CountingLab) -> None:
    lab = counting.lab
    service = lab.home / "service"
    lab.gates(Gate("test", f"{counting.command} && test -e {service}", 600.0))
    assert lab.measure("green", {"calc.py": MUL}).green_runs == 0
    service.touch()
    measured = lab.measure("green")
    assert (measured.green_runs, measured.reused) == (2, "")


def test_red_needs_no_second_run_where_only_tests_and_flyballs_own_files_are_new(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingLab(lab, monkeypatch)
    measured = lab.measure("red", {**RED, ".loop/001-mul/plan.md": "- [ ] AC-1\n"})
    assert (len(measured.new_tests), measured.old_tests_broken) == (2, ())
    assert counting.runs() == [{"test_add"}]  # what cannot be imported does not run


def flaking(coin: Path, *, on: int) -> str:
    """Two old tests, of which the second fails in one of its runs."""
    return f"""
        import pathlib

        coin = pathlib.Path({str(coin)!r})


        def test_first():
            assert coin


        def test_coin():
            with coin.open("a") as file:
                file.write("x")
            assert len(coin.read_text()) != {on}
        """


@pytest.mark.parametrize("on", [2, 3])
def test_a_flake_beside_planted_failures_is_found_in_one_iteration(
    new_lab: Callable[..., Lab], tmp_path: Path, on: int
) -> None:
    lab = new_lab({"tests/test_flaking.py": flaking(tmp_path / "coin", on=on)})
    lab.accept(RED, ACCEPTED)
    measured = lab.measure("green", {"calc.py": MUL})
    if on == 2:
        assert (measured.flaky, measured.green_runs) == (("tests/test_flaking.py::test_coin",), 1)
    else:  # It ran and passed twice.
        assert (measured.flaky, measured.green_runs) == ((), 2)


def test_a_test_that_fails_over_what_is_planted_elsewhere_is_not_called_flaky(new_lab: Callable[..., Lab]) -> None:
    watching = """
        import pathlib


        def test_first():
            assert True


        def test_sources():
            text = pathlib.Path(__file__).with_name("test_old.py").read_text()
            assert len(text) < 100, "somebody wrote into test_old.py"
        """
    lab = new_lab({"tests/test_watching.py": watching})
    lab.accept(RED, ACCEPTED)
    measured = lab.measure("green", {"calc.py": MUL})
    assert (measured.flaky, measured.green_runs, measured.tricks) == ((), 2, ())


@pytest.mark.req("C15")
@pytest.mark.parametrize(("files", "runs"), [({}, 1), ({"tests/check.sh": "test -e calc.py\n"}, 2)])
def test_a_gate_that_counts_nothing_runs_twice_only_where_there_are_tests(
    new_lab: Callable[..., Lab], files: dict[str, str], runs: int
) -> None:
    lab = new_lab({"calc.py": "X = 1\n", **files}, bare=True)
    lab.forget_tests()
    calls = lab.home / "calls"
    lab.gates(Gate("check", f"echo x >>{calls}; test -e calc.py", 600.0))
    measured = lab.measure("green", {"notes.txt": "More.\n"})
    assert (measured.green_runs, len(calls.read_text().split())) == (runs, runs)


def test_lint_beside_counted_tests_runs_once(counting: CountingLab) -> None:
    calls = counting.lab.home / "calls"
    lint = Gate("lint", f"echo x >>{calls}; true # ruff check", 600.0)
    counting.lab.gates(*counting.lab.settings.gates, lint)
    assert counting.lab.measure("green", {"calc.py": MUL}).green_runs == 2
    assert calls.read_text().split() == ["x"]


def test_a_flake_in_the_run_without_new_files_is_no_trick(new_lab: Callable[..., Lab], tmp_path: Path) -> None:
    lab = new_lab({"tests/test_flaking.py": flaking(tmp_path / "coin", on=2)})
    measured = lab.measure("green", {"calc.py": MUL, **RED})
    assert (measured.flaky, measured.green_runs) == (("tests/test_flaking.py::test_coin",), 1)
    assert measured.tricks == ()
