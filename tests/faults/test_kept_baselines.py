"""C18: a baseline is kept for the next task on the same commit, gates and environment, and for no other."""

import json
import os
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from tests.faults.world import TASK, World

from flyball.clock import system_clock
from flyball.core.model.measurement import Measurement
from flyball.core.model.outcomes import Measured
from flyball.journal.sqlite import SqliteJournal
from flyball.measures.kept import MOST, KeptBaseline

pytestmark = [pytest.mark.slow, pytest.mark.req("C18")]

SETUP = "mkdir -p .venv && cp deps/version.txt .venv/package.json"


def outcomes(world: World) -> list[object]:
    """How the effects of the newest task ended."""
    with SqliteJournal.open(world.site / "journal.sqlite") as journal:
        task = max(record.id for record in journal.tasks())
        return [getattr(event.fact, "outcome", None) for event in journal.read(task)]


class Shop:
    """Tasks one after another on one repository, in which each run of set-up and of the gate leaves a line outside of every tree."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.log = world.outside / "ran.log"
        self.script = world.outside / "gate.sh"
        self.script.write_text(f"echo gate >> {self.log}\n{world.gate.replace('{junit}', '$1')}\n")
        world.workflow = "quick"
        world.gate = f"sh {self.script} {{junit}}"
        world.write(".gitignore", ".venv\nlocal.txt\n")
        world.write("deps/version.txt", "{}")
        self.commit()
        self.tasks = 0

    def commit(self) -> None:
        self.world.git("add", ".gitignore", "deps/version.txt")
        self.world.git("commit", "-q", "-m", "More", ".gitignore", "deps/version.txt")

    def run(self, *more: str, setup: str = SETUP) -> Measurement:
        """The baseline of one more task."""
        self.log.write_text("")
        self.tasks += 1
        setup = f"echo setup >> {self.log}; {setup}"
        code, said = self.world.flyball(*self.world.run_arguments("--setup", setup, "--new", *more))
        assert code == 0, said
        return next(each.measurement for each in outcomes(self.world) if isinstance(each, Measured))

    def count(self, what: str) -> int:
        return self.log.read_text().splitlines().count(what)

    @property
    def kept(self) -> list[Path]:
        return list((self.world.site / "baselines").glob("*"))


@pytest.fixture
def shop(world: World) -> Shop:
    return Shop(world)


def test_a_second_task_pays_no_baseline_and_says_whose_it_has(shop: Shop) -> None:
    first = shop.run()
    counts = shop.count("setup"), shop.count("gate")
    second = shop.run()
    assert (first.reused, counts[0]) == ("", 1)
    assert second.reused.startswith(f"task {TASK} measured this commit with the same gates and environment at ")
    assert msgspec.structs.replace(second, reused="", commands_s=first.commands_s) == first
    assert (shop.count("setup"), shop.count("gate")) == (1, counts[1] - 1), "nothing ran on the untouched tree"
    code, log = shop.world.flyball("logs", "002")
    assert f"not run again: {second.reused}" in log, code
    assert f"not run again: {second.reused}" in shop.world.flyball("report", "002")[1]


def test_measure_again_ignores_what_is_kept_and_keeps_what_it_finds(shop: Shop) -> None:
    shop.run()
    assert shop.run("--measure-again").reused == ""
    assert shop.run().reused.startswith("task 002-")


def another_commit(shop: Shop) -> None:
    shop.world.write("deps/version.txt", "{ }")
    shop.commit()


def the_same_tree_in_another_commit(shop: Shop) -> None:
    shop.world.git("commit", "-q", "--allow-empty", "-m", "Nothing")


def another_gate(shop: Shop) -> None:
    shop.world.gate += " more"


def another_script(shop: Shop) -> None:
    with shop.script.open("a") as file:
        file.write("exit\n")


def another_variable(shop: Shop) -> None:
    shop.world.variables["UV_INDEX"] = "https://example.org"


def another_interpreter(shop: Shop) -> None:
    programs = shop.world.outside / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/bash")
    shop.world.path = f"{programs}:{shop.world.path}"


def another_package(shop: Shop) -> None:
    site = shop.world.outside / ".local" / "lib" / "python3.11" / "site-packages" / "adder"
    site.mkdir(parents=True)


@pytest.mark.parametrize(
    "change",
    [
        another_commit,
        the_same_tree_in_another_commit,
        another_gate,
        another_script,
        another_variable,
        another_interpreter,
        another_package,
    ],
)
def test_after_a_change_of_what_it_depends_on_a_baseline_is_measured_anew(shop: Shop, change) -> None:
    shop.run()
    change(shop)
    assert shop.run().reused == ""
    assert shop.run().reused.startswith("task 002-"), "and that one is kept"


def test_another_set_up_or_another_result_of_it_is_another_environment(shop: Shop) -> None:
    shop.run()
    assert shop.run(setup=f"{SETUP}; true").reused == ""
    source = shop.world.outside / "latest"
    newest = f"mkdir -p .venv && cat {source} > .venv/package.json"
    source.write_text('{"version": 1}')
    shop.run(setup=newest)
    os.utime(source)
    source.write_text('{"version": 2}')
    assert shop.run(setup=newest).reused == ""


def test_an_ignored_file_that_gates_carry_is_part_of_the_environment(shop: Shop) -> None:
    (shop.world.repository / "flyball.toml").write_text('[gates]\ncarry = ["local.txt"]\n')
    shop.world.flyball("trust", "--yes")
    shop.world.write("local.txt", "1")
    shop.run()
    assert shop.run().reused
    shop.world.write("local.txt", "2")
    assert shop.run().reused == ""


def test_known_failures_are_measured_anew_once_the_users_folder_has_other_files(shop: Shop) -> None:
    shop.world.write("tests/lacking.t", "test -e local.txt\n")
    shop.world.git("add", "tests/lacking.t")
    shop.world.git("commit", "-q", "-m", "A test that fails", "tests/lacking.t")
    assert shop.run().counts.known_failing == 1
    assert shop.run().reused
    shop.world.write("local.txt", "made")
    shop.log.write_text("")
    code, said = shop.world.flyball(*shop.world.run_arguments("--setup", f"echo setup >> {shop.log}; {SETUP}", "--new"))
    assert code == 3
    assert "not in a copy of your folder" in said


def test_what_is_kept_is_bounded_in_age_and_number_and_clean_removes_it(shop: Shop) -> None:
    shop.run()
    (record,) = shop.kept
    kept = msgspec.json.decode(record.read_bytes(), type=KeptBaseline)
    old = msgspec.structs.replace(kept, at=system_clock.now() - timedelta(hours=24, minutes=1))
    record.write_bytes(msgspec.json.encode(old))
    for number in range(MOST + 5):
        (record.parent / f"{number}").write_text("{}")
    assert shop.run().reused == ""
    assert len(shop.kept) == MOST
    told = json.loads(shop.world.flyball("clean", "--finished", "--json", "--dry-run")[1])
    assert told["baselines_bytes"] > 0
    assert shop.kept
    assert shop.world.flyball("clean", "--finished")[0] == 0
    assert not shop.kept


def test_a_damaged_record_is_measured_anew_and_a_gate_that_cannot_run_is_not_kept(shop: Shop) -> None:
    shop.run()
    shop.kept[0].write_text("{")
    assert shop.run().reused == ""
    before = len(shop.kept)
    shop.world.gate = "no-such-program {junit} || /no/such"
    assert shop.world.flyball(*shop.world.run_arguments("--new"))[0] == 3
    assert len(shop.kept) == before


def test_run_after_init_has_the_baseline_of_init_and_check_measures_whatever_is_kept(world: World) -> None:
    world.speak_python()
    code, said = world.flyball("init")
    assert "gate test: 1 passed" in said, code
    world.flyball("run", "greet the world", "--unattended", "--agent-command", "false", "--max-turns", "1")
    baseline = next(outcome.measurement for outcome in outcomes(world) if isinstance(outcome, Measured))
    assert baseline.reused.startswith("flyball init measured this commit"), baseline
    assert "not run again" in world.flyball("init", "--force")[1]
    code, said = world.flyball("check")
    assert "gate test: 1 passed" in said, code
    assert "not run again" not in said
