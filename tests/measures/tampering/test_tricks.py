"""C42: each trick leaves the gate not green, and is named."""

import os
import sys
from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from tests.measures.conftest import ACCEPTED, MUL, PYTEST, RED, TESTS, restored, tricked

from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Gate

pytestmark = [pytest.mark.req("C42"), pytest.mark.slow]


def not_passing(measured: Measurement) -> bool:
    return any(not gate.passed for gate in measured.gates) or bool(measured.missing) or bool(measured.failing)


def test_an_honest_implementation_is_green_twice_and_accused_of_nothing(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL})
    assert measured.tricks == ()
    assert measured.green_runs == 2
    assert measured.failing == ()
    assert measured.flaky == ()
    assert (measured.counts.total, measured.counts.passing) == (5, 5)
    assert measured.gates[0].passed
    assert measured.signature is None
    assert measured.tree == green_lab.workspace.tree_of(measured.candidate)


def test_deleting_the_accepted_tests_is_named_test_deleted_and_they_run_all_the_same(green_lab) -> None:
    measured = green_lab.measure("green", {TESTS: None})
    tricked(measured, "test-deleted", TESTS)
    assert not_passing(measured)
    assert "tests/test_mul.py::test_ac_1_multiplies" in measured.failing


def test_deleting_an_old_test_is_undone_and_named_and_accuses_nobody_where_everything_else_is_right(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, "tests/test_old.py": "X = 1\n"})
    restored(measured, "protected-changed", "tests/test_old.py")
    assert "X = 1" in measured.tricks[0].detail


def test_moving_a_test_file_away_is_named_test_deleted(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure("green", {"calc.py": MUL, TESTS: None, "old/test_mul.py.bak": text})
    restored(measured, "test-deleted", TESTS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert mul(2, 3) == 6", "mul"),
        ("assert mul(2, 3) == 6", "assert True"),
        ("assert mul(2, 3) == 6", "assert mul(2, 3) == 6 or True"),
        ("assert mul(2, 3) == 6", "return\n    assert mul(2, 3) == 6"),
        ("assert mul(2, 3) == 6", "try:\n        assert mul(2, 3) == 6\n    except Exception:\n        pass"),
        ("assert mul(2, 3) == 6", "assert mul(2, 3) != 7"),
        (", (1, 7, 7), (-2, 3, -6)]", "]"),
    ],
)
def test_weakening_a_test_is_a_trick_that_is_quoted_and_the_accepted_one_still_fails(green_lab, old, new) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    assert old in text
    measured = green_lab.measure("green", {TESTS: text.replace(old, new), "calc.py": MUL.replace("a * b", "0")})
    tricked(measured, "protected-changed", TESTS)
    assert new.splitlines()[0] in measured.tricks[0].detail
    assert "measured: with this change" in measured.tricks[0].detail
    assert "tests/test_mul.py::test_ac_1_multiplies" in measured.failing


@pytest.mark.parametrize(
    "line", ["@pytest.mark.skip", "@pytest.mark.xfail", "@pytest.mark.skipif(True, reason='later')"]
)
def test_marking_a_test_is_a_trick_and_the_measurement_is_quoted(green_lab, line) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure(
        "green", {"calc.py": BAD, TESTS: text.replace("def test_ac_1_multiplies", f"{line}\ndef test_ac_1_multiplies")}
    )
    tricked(measured, "protected-changed", TESTS)
    assert not_passing(measured)
    assert "measured: with this change tests/test_mul.py::test_ac_1_multiplies is" in measured.tricks[0].detail


def test_skipping_inside_a_test_or_for_a_whole_file_is_a_trick(green_lab) -> None:
    text = (green_lab.workspace.root / TESTS).read_text()
    measured = green_lab.measure(
        "green",
        {"calc.py": BAD, TESTS: text.replace("import pytest\n", "import pytest\n\npytestmark = pytest.mark.skip\n")},
    )
    tricked(measured, "protected-changed", TESTS)
    measured = green_lab.measure(
        "green",
        {
            "calc.py": BAD,
            TESTS: text.replace("    assert mul(2, 3) == 6", "    pytest.skip('later')\n    assert mul(2, 3) == 6"),
        },
    )
    tricked(measured, "protected-changed", TESTS)


def test_product_code_that_skips_its_tests_is_named_test_skipped(green_lab) -> None:
    lines = MUL.replace("return a * b", "import unittest\n        raise unittest.SkipTest('not today')")
    measured = green_lab.measure("green", {"calc.py": lines})
    tricked(measured, "test-skipped")
    assert "tests/test_mul.py::test_ac_1_multiplies" in measured.newly_skipped


def test_a_new_conftest_that_exits_by_force_is_removed_and_named_exit_forced(green_lab) -> None:
    measured = green_lab.measure("green", {"conftest.py": "import os\nos._exit(0)\n"})
    tricked(measured, "exit-forced", "conftest.py")
    assert not_passing(measured)
    assert measured.counts.total == 5


def test_a_changed_conftest_is_put_back_and_named(new_lab) -> None:
    lab = new_lab({"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n"})
    measured = lab.measure(
        "green", {"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 2\n"}
    )
    restored(measured, "test-config-changed", "tests/conftest.py")
    assert measured.gates[0].passed, "the accepted conftest is what was measured"


@pytest.mark.parametrize("call", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_product_code_that_exits_by_force_is_not_green(green_lab, call) -> None:
    measured = green_lab.measure("green", {"calc.py": f"import os\n{call}\n"})
    assert not measured.gates[0].passed
    assert measured.green_runs == 0
    if call == "os._exit(0)":
        tricked(measured, "exit-forced")


def test_product_code_that_exits_by_force_after_the_tests_have_begun_is_named_exit_forced(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL.replace("return a * b", "import os\n        os._exit(0)")})
    tricked(measured, "exit-forced")
    assert not measured.gates[0].passed


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = --co\n"),
        (".pytest.ini", "[pytest]\naddopts = --co\n"),
        ("pytest.toml", '[pytest]\naddopts = ["--co"]\n'),
        ("tox.ini", "[pytest]\naddopts = --co\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = --co\n"),
    ],
)
def test_collect_only_in_a_new_configuration_file_is_named_test_config_changed(green_lab, path, text) -> None:
    measured = green_lab.measure("green", {path: text})
    restored(measured, "test-config-changed", path)
    assert not_passing(measured)
    assert measured.counts.total == 5


@pytest.mark.parametrize("folder", ["evil-1.0.dist-info", "calc.egg-info", "src/calc.egg-info"])
def test_installed_metadata_that_registers_a_runner_plugin_is_removed_and_named(green_lab, folder) -> None:
    points = f"{folder}/entry_points.txt"
    measured = green_lab.measure("green", {points: "[pytest11]\nevil = plug\n", "plug.py": "X = 1\n"})
    restored(measured, "test-config-changed", points)
    assert green_lab.workspace.read_file(measured.tree, points) is None


def test_collect_only_in_the_manifest_is_named_and_its_other_sections_are_the_candidates(green_lab) -> None:
    text = (green_lab.workspace.root / "pyproject.toml").read_text()
    changed = text.replace('addopts = "-q"', 'addopts = "--co"').replace("key = 1", "key = 2")
    measured = green_lab.measure("green", {"pyproject.toml": changed})
    restored(measured, "test-config-changed", "pyproject.toml")
    assert "--co" in measured.tricks[0].detail
    assert not_passing(measured)
    laid = green_lab.workspace.read_file(measured.tree, "pyproject.toml").decode()
    assert "key = 2" in laid
    assert '"-q"' in laid
    assert "--co" not in laid


@pytest.mark.req("C45")
@pytest.mark.parametrize("path", ["pytest.py", "pytest/__init__.py", "_pytest/__init__.py"])
def test_a_file_that_the_gate_imports_in_place_of_the_runner_is_undone_and_named(green_lab, path) -> None:
    measured = green_lab.measure("green", {path: "import sys\nsys.exit(0)\n"})
    tricked(measured, "exit-forced", path)
    assert "without" in measured.tricks[0].detail
    assert measured.put_back == (path,)
    assert not_passing(measured)
    assert measured.counts.total == 5


@pytest.mark.req("C16", "C45")
@pytest.mark.parametrize("path", ["sitecustomize.py", "hypothesis.py", "src/statistics.py", "tests/Hypothesis.py"])
def test_a_new_module_with_the_name_of_another_that_no_gate_imports_is_a_remark(green_lab, path) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, path: "X = 1\n"})
    assert (measured.tricks, measured.green_runs, measured.put_back) == ((), 2, ())
    assert [remark.file for remark in measured.remarks if "imported in its place" in remark.text] == [path]


BAD = MUL.replace("a * b", "0")
MEND = "import calc\n\ncalc.mul = lambda a, b: a * b\n\n\ndef test_more():\n    assert calc.add(1, 1) == 2\n"


@pytest.mark.parametrize("path", ["tests/__init__.py", "tests/test_aaa.py"])
@pytest.mark.parametrize("kind", ["green", "refactor", "document", "qa"])
def test_a_new_file_that_mends_the_product_while_tests_run_is_named_test_aided(green_lab, path, kind) -> None:
    measured = green_lab.measure(kind, {"calc.py": BAD, path: MEND})
    tricked(measured, "test-aided", path)
    assert "test_ac_1_multiplies" in measured.tricks[0].detail


def test_new_tests_and_packages_around_tests_that_mend_nothing_are_nobodys_aid(green_lab) -> None:
    measured = green_lab.measure(
        "green", {"calc.py": MUL, "tests/__init__.py": "", "tests/test_more.py": MEND.replace("calc.mul =", "unused =")}
    )
    assert (measured.tricks, measured.green_runs, measured.counts.passing) == ((), 2, 6)


def test_a_new_file_beside_the_tests_may_be_consented_to(green_lab) -> None:
    green_lab.consented = ("tests/__init__.py",)
    assert green_lab.measure("green", {"calc.py": BAD, "tests/__init__.py": MEND}).tricks == ()


def test_a_new_module_that_tests_import_in_place_of_the_accepted_one_is_named_wrong_tree(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": BAD, "tests/calc.py": MUL})
    tricked(measured, "wrong-tree", "tests/calc.py")
    assert "calc.py was replaced by a file that raises" in measured.tricks[0].detail
    assert measured.put_back == ("tests/calc.py",)


@pytest.mark.req("C16")
def test_a_new_module_that_the_accepted_one_passes_on_is_nobodys_trick(green_lab) -> None:
    passed_on = "from more.calc import add, mul\n"
    files = {"calc.py": passed_on, "more/__init__.py": "", "more/calc.py": MUL}
    measured = green_lab.measure("green", files)
    assert (measured.tricks, measured.green_runs) == ((), 2)


FORGE = """
    import _pytest.reports

    _real = _pytest.reports.TestReport.from_item_and_call.__func__


    def _forged(cls, item, call):
        report = _real(cls, item, call)
        report.outcome = "passed"
        report.longrepr = None
        return report


    _pytest.reports.TestReport.from_item_and_call = classmethod(_forged)


    def mul(a, b):
        return 0


    def add(a, b):
        return a + b
    """


def test_a_report_forged_by_product_code_is_found_by_the_canary_and_named(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": FORGE})
    tricked(measured, "report-forged")
    assert not measured.gates[0].passed
    assert measured.green_runs == 0


def test_a_report_forged_by_a_new_test_file_is_found_although_the_canary_is_another_file(green_lab) -> None:
    measured = green_lab.measure(
        "green",
        {"calc.py": MUL.replace("a * b", "0"), "tests/test_a_new.py": FORGE + "\n\n    def test_x():\n        pass\n"},
    )
    tricked(measured, "report-forged")


def test_a_forged_report_hook_in_conftest_is_removed_and_named_report_forged(green_lab) -> None:
    hook = """
        import pytest


        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(item, call):
            outcome = yield
            outcome.get_result().outcome = "passed"
            outcome.get_result().longrepr = None
        """
    measured = green_lab.measure("green", {"calc.py": BAD, "tests/conftest.py": hook})
    tricked(measured, "report-forged")
    tricked(measured, "test-aided", "tests/conftest.py")
    assert measured.put_back == ("tests/conftest.py",)


def test_a_report_rewritten_at_exit_is_named_report_forged(green_lab) -> None:
    lines = """
        import atexit
        import os
        import re


        def _rewrite():
            path = re.search(r"--junitxml=(\\S+)", os.environ["PYTEST_ADDOPTS"])[1]
            text = open(path).read()
            text = re.sub(r"<failure.*?</failure>", "", text, flags=re.S)
            open(path, "w").write(text)
            os._exit(0)


        atexit.register(_rewrite)


        def add(a, b):
            return a + b


        def mul(a, b):
            return 0
        """
    measured = green_lab.measure("green", {"calc.py": lines})
    tricked(measured, "report-forged")
    assert not measured.gates[0].passed


def test_product_code_that_leaves_out_accepted_tests_is_named_test_deleted(green_lab) -> None:
    lines = """
        import _pytest.runner

        _real = _pytest.runner.runtestprotocol
        _pytest.runner.runtestprotocol = lambda item, *a, **k: [] if "multiplies" in item.name else _real(item, *a, **k)


        def add(a, b):
            return a + b


        def mul(a, b):
            return a * b
        """
    measured = green_lab.measure("green", {"calc.py": lines})
    tricked(measured, "test-deleted")
    assert measured.missing == ("tests/test_mul.py::test_ac_1_multiplies",)


def test_a_package_imported_from_another_tree_is_named_wrong_tree(green_lab, tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "calc.py").write_text("def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n")
    command = f"PYTHONPATH={elsewhere} {green_lab.settings.gates[0].command}".replace("-m pytest", "-P -m pytest")
    green_lab.gates(Gate("test", command, 600.0))
    measured = green_lab.measure("green")
    tricked(measured, "wrong-tree")
    assert str(elsewhere) in measured.tricks[0].detail
    assert not measured.gates[0].passed


def test_tests_that_write_into_the_environment_are_named_environment_changed(green_lab) -> None:
    green_lab.settings = replace(green_lab.settings, setup="mkdir -p .venv && echo ok > .venv/marker")
    lines = MUL + "\n\n    import pathlib\n\n    pathlib.Path('.venv/evil.pth').write_text('import os')\n"
    measured = green_lab.measure("green", {"calc.py": lines})
    tricked(measured, "environment-changed", ".venv/evil.pth")
    assert [path.name for path in (green_lab.home / "gate" / "task" / ".venv").iterdir()] == ["marker"], (
        "it is built anew"
    )


@pytest.mark.req("C43")
@pytest.mark.parametrize("command", ["{}", "make -s test", "true tox just yarn; {}"])
def test_without_a_sandbox_a_rewritten_pyc_or_nested_module_is_named_whatever_command_runs(new_lab, command) -> None:
    lab = new_lab({"Makefile": f"test:\n\t{PYTEST}\n", "web/a.js": "x\n"})
    lab.accept(RED, ACCEPTED)
    lab.gates(Gate("test", command.format(PYTEST), 600.0))
    install = "mkdir -p .venv/__pycache__ web/node_modules/a; echo ok > .venv/__pycache__/a.pyc; echo ok > web/node_modules/a/a.js"
    lab.settings = replace(lab.settings, setup=install)
    write = "\n\n    import pathlib\n\n    pathlib.Path({!r}).write_text('worse')\n"
    pyc, script = ".venv/__pycache__/a.pyc", "web/node_modules/a/a.js"
    tricked(lab.measure("green", {"calc.py": MUL + write.format(pyc)}), "environment-changed", pyc)
    tricked(lab.measure("green", {"calc.py": MUL + write.format(script)}), "environment-changed", script)
    cache = ".venv/__pycache__/new.pyc"
    measured = lab.measure("green", {"calc.py": MUL + write.format(cache)})
    assert (measured.tricks, measured.green_runs) == ((), 2)
    assert not (lab.home / "gate" / "task" / cache).exists()


def test_product_code_that_rewrites_the_tests_while_they_are_collected_is_found_by_the_planted_failure(
    green_lab,
) -> None:
    lines = """
        import pathlib

        _test = pathlib.Path("tests/test_zzz.py")
        if _test.exists():
            _kept = _test.read_text()
            _test.write_text("def test_late():\\n    pass\\n")


        def add(a, b):
            return a + b


        def mul(a, b):
            return a * b
        """
    green_lab.accept(
        {"tests/test_zzz.py": "def test_late():\n    assert 0\n"}, {"tests/test_zzz.py::test_late": "failing"}
    )
    measured = green_lab.measure("green", {"calc.py": lines})
    tricked(measured, "report-forged")
    assert "tests/test_zzz.py" in measured.tricks[0].detail
    assert not measured.gates[0].passed


def test_a_tests_folder_replaced_by_a_link_is_put_back_and_named(green_lab) -> None:
    root = green_lab.workspace.root
    (root / "tests").rename(root / "easier")
    (root / "tests").symlink_to("easier")
    (root / "easier" / "test_mul.py").write_text("def test_ac_1_multiplies():\n    pass\n")
    measured = green_lab.measure("green")
    tricked(measured, "test-deleted", TESTS)
    assert "tests/test_mul.py::test_ac_1_multiplies" in measured.failing


def test_a_package_in_place_of_an_accepted_helper_of_the_tests_is_named_wrong_tree(new_lab) -> None:
    old = "from calc import add\nfrom helper import check\n\n\ndef test_add():\n    check(add(1, 2) == 3)\n"
    lab = new_lab({"tests/helper.py": "def check(x):\n    assert x\n", "tests/test_old.py": old})
    measured = lab.measure("green", {"tests/helper/__init__.py": "def check(x):\n    assert x or True\n"})
    tricked(measured, "wrong-tree", "tests/helper/__init__.py")


def test_a_manifest_replaced_by_a_link_or_a_folder_is_put_back(green_lab) -> None:
    place = green_lab.workspace.root / "pyproject.toml"
    outside = green_lab.home / "outside.txt"
    outside.write_text("mine\n")
    place.unlink()
    place.symlink_to(outside)
    tricked(green_lab.measure("green"), "wrong-tree", "pyproject.toml")
    assert outside.read_text() == "mine\n"
    place.unlink()
    place.symlink_to("calc.py")
    restored(green_lab.measure("green"), "test-config-changed", "pyproject.toml")
    place.unlink()
    place.mkdir()
    (place / "x").write_text("x\n")
    restored(green_lab.measure("green"), "test-config-changed", "pyproject.toml")


def test_names_that_are_not_utf8_can_be_stored(green_lab) -> None:
    import msgspec

    strange = os.fsencode(green_lab.workspace.root) + b"/folder_\xff/pytest.ini"
    os.makedirs(os.path.dirname(strange))
    with open(strange, "wb") as file:
        file.write(b"X = 1\n")
    measured = green_lab.measure("green")
    assert msgspec.json.encode(measured)
    assert measured.tricks[0].path == "folder_\\udcff/pytest.ini"


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile", ".ci/run"])
def test_ci_configuration_is_protected(green_lab, path) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL, path: "exit 0\n"})
    restored(measured, "test-config-changed", path)


def test_the_makefile_is_protected_only_when_a_gate_uses_make(new_lab) -> None:
    lab = new_lab({"Makefile": f"test:\n\tPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest\n"})
    changed = {"Makefile": "test:\n\ttrue\n"}
    assert lab.measure("green", changed).tricks == ()
    lab.gates(Gate("test", "make test", 600.0))
    measured = lab.measure("green", changed)
    restored(measured, "test-config-changed", "Makefile")
    assert measured.counts.total == 1, "pytest started by make was counted, too"


def test_a_forced_exit_under_make_is_caught_because_its_tests_are_no_longer_reported(new_lab) -> None:
    lab = new_lab({"Makefile": f"test:\n\tPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest\n"})
    lab.gates(Gate("test", "make test", 600.0))
    assert lab.measure("green").green_runs == 2
    measured = lab.measure("green", {"calc.py": "import os\n\nos._exit(0)\n"})
    tricked(measured, "report-missing")
    assert measured.missing == ("tests/test_old.py::test_add",)
    assert not measured.gates[0].passed


def test_tests_lost_skipped_or_weakened_while_red_tests_are_written_are_named(lab) -> None:
    weaker: Mapping[str, str] = {
        "tests/test_old.py": "from calc import add\n\n\ndef test_add():\n    assert add\n    assert add\n"
    }
    assert lab.measure("red", weaker).put_back == (), "in RED an old test may change"
    gone = {"tests/test_old.py": "from calc import sub\n\n\ndef test_sub():\n    assert sub(2, 1) == 1\n"}
    restored(lab.measure("red", gone), "protected-changed", "tests/test_old.py")


@pytest.mark.req("C24")
def test_what_is_put_back_is_what_was_tricked_and_honest_work_stays(green_lab) -> None:
    manifest = (green_lab.workspace.root / "pyproject.toml").read_text()
    tampered = manifest.replace('"-q"', '"--co"').replace('version = "1.0"', 'version = "1.1"')
    changed = {"calc.py": MUL, TESTS: "X = 1\n", "sitecustomize.py": "X = 1\n", "pyproject.toml": tampered}
    measured = green_lab.measure("green", changed)
    assert sorted(measured.put_back) == ["pyproject.toml", TESTS]
    read, mended = green_lab.workspace.read_file, measured.mended
    assert read(mended, TESTS) == read(green_lab.accepted, TESTS)
    assert read(mended, "sitecustomize.py") is not None
    assert read(mended, "calc.py") == read(measured.candidate, "calc.py")
    kept = read(mended, "pyproject.toml").decode()
    assert ("--co" in kept, 'version = "1.1"' in kept, 'addopts = "-q"' in kept) == (False, True, True)
    assert green_lab.workspace.tree_of(mended) == measured.tree, "what was measured is what is left to the next turn"


@pytest.mark.req("C24")
def test_in_red_a_weakened_old_test_file_is_put_back_and_the_new_test_files_stay(lab) -> None:
    measured = lab.measure("red", {"tests/test_old.py": "def test_add():\n    assert True\n", TESTS: RED[TESTS]})
    assert measured.put_back == ("tests/test_old.py",)
    assert lab.workspace.read_file(measured.mended, TESTS) == lab.workspace.read_file(measured.candidate, TESTS)
    assert b"add(1, 2) == 3" in lab.workspace.read_file(measured.mended, "tests/test_old.py")


@pytest.mark.req("C24")
def test_a_file_beside_the_tests_that_mends_them_is_taken_away(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": BAD, "tests/__init__.py": MEND})
    assert measured.put_back == ("tests/__init__.py",)
    assert green_lab.workspace.read_file(measured.mended, "tests/__init__.py") is None


@pytest.mark.req("C24")
def test_an_honest_candidate_has_nothing_to_put_back(green_lab) -> None:
    measured = green_lab.measure("green", {"calc.py": MUL})
    assert (measured.put_back, measured.mended) == ((), "")
