"""What `init` proposes for each stack, on red and on green: a fresh report also when tests fail, with the runner's own exit code.

Runners that are installed are run. Those that cannot be had here are stood in for by a program that leaves what they leave.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from flyball.config.detect import detect
from flyball.core.loop.junit_hint import maven
from flyball.core.model.measurement import Measurement
from flyball.core.model.task import Gate

pytestmark = [pytest.mark.slow, pytest.mark.req("C7", "C31", "C41")]


class Stack(msgspec.Struct, frozen=True):
    """A project with a test that passes and one that always failed; what RED and GREEN add to it; a runner or its stand-in."""

    programs: tuple[str, ...]
    exit_code: int
    base: dict[str, str]
    red: dict[str, str]
    green: dict[str, str]
    worse: dict[str, str]
    stand_in: str = ""


GO = 'package calc\n\nimport "testing"\n\n'
PHP = "<?php\nuse PHPUnit\\Framework\\TestCase;\nrequire_once __DIR__ . '/../calc.php';\n"
NODE = "const test = require('node:test')\nconst assert = require('assert')\nconst calc = require('../calc')\n"
BATS = "setup() { . ./calc.sh; }\n"

NEXTEST = """#!/bin/sh
# cargo-nextest: 100 where tests failed, 101 and no report where the build did.
test "$1 $2" = "nextest run" || exit 2
if [ -e tests/mul.rs ] && ! grep -q "fn mul" src/lib.rs; then
    echo "error[E0425]: cannot find function \\`mul\\` in crate \\`calc\\`"
    echo " --> tests/mul.rs:2:31"
    echo "error: could not compile \\`calc\\` (test \\"mul\\") due to 1 previous error"
    exit 101
fi
new=
[ -e tests/mul.rs ] && new='<testcase name="ac_1_multiplies" classname="calc::mul" time="0.003"></testcase>'
[ -e tests/worse.rs ] && new="$new"'<testcase name="worse" classname="calc::worse" time="0.003"><failure type="test failure with exit code 101" message="thread panicked">assertion failed</failure></testcase>'
mkdir -p target/nextest/ci
cat > target/nextest/ci/junit.xml <<X
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="2" failures="1" errors="0" time="0.010">
    <testsuite name="calc" tests="2" disabled="0" errors="0" failures="1">
        <testcase name="tests::adds" classname="calc" time="0.003">
        </testcase>
        <testcase name="tests::always_failed" classname="calc" time="0.004">
            <failure type="test failure with exit code 101" message="assertion failed">thread panicked</failure>
        </testcase>
        $new
    </testsuite>
</testsuites>
X
exit 100
"""
SUREFIRE = """#!/bin/sh
# A build tool of Java: a report for each class and 1 where tests failed; no report where the compiler did.
if [ -e src/test/java/MulTest.java ] && ! grep -q "int mul" src/main/java/Calc.java; then
    echo "[ERROR] /build/src/test/java/MulTest.java:[4,47] cannot find symbol"
    exit 1
fi
mkdir -p {place}
report() { printf '<testsuite name="%s" tests="1"><testcase name="%s" classname="%s" time="0.01">%s</testcase></testsuite>' "$1" "$2" "$1" "$3" > "{place}/TEST-$1.xml"; }
report CalcTest adds ""
report OldTest alwaysFailed '<failure message="expected:&lt;1&gt; but was:&lt;2&gt;" type="java.lang.AssertionError">at OldTest</failure>'
[ -e src/test/java/MulTest.java ] && report MulTest ac1 ""
[ -e src/test/java/WorseTest.java ] && report WorseTest worse '<error message="/ by zero" type="java.lang.ArithmeticException"/>'
exit 1
"""
JAVA = {
    "base": {
        "src/main/java/Calc.java": "class Calc { static int add(int a, int b) { return a + b; } }\n",
        "src/test/java/CalcTest.java": "class CalcTest { @Test void adds() { assertEquals(3, Calc.add(1, 2)); } }\n",
    },
    "red": {
        "src/test/java/MulTest.java": "class MulTest { @Test\n void ac1() { assertEquals(6, Calc.mul(2, 3)); } }\n"
    },
    "green": {"src/main/java/Calc.java": "class Calc { static int mul(int a, int b) { return a * b; } }\n"},
    "worse": {"src/test/java/WorseTest.java": "class WorseTest { @Test void worse() { } }\n"},
}

STACKS = {
    "go": Stack(
        ("go", "gotestsum"),
        1,
        {
            "go.mod": "module example.com/calc\n\ngo 1.19\n",
            "calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
            "calc_test.go": GO + 'func TestAdd(t *testing.T) { if Add(1, 2) != 3 { t.Fatal("no") } }\n'
            'func TestBad(t *testing.T) { t.Fatal("always failed") }\n',
        },
        {"mul_test.go": GO + 'func TestAC1Multiplies(t *testing.T) { if Mul(2, 3) != 6 { t.Fatal("no") } }\n'},
        {"mul.go": "package calc\n\nfunc Mul(a, b int) int { return a * b }\n"},
        {"worse_test.go": GO + 'func TestWorse(t *testing.T) { t.Fatal("no") }\n'},
    ),
    "php": Stack(
        ("phpunit",),
        1,
        {
            "phpunit.xml": '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
            "calc.php": "<?php\nfunction add($a, $b) { return $a + $b; }\n",
            "tests/CalcTest.php": PHP + "class CalcTest extends TestCase {\n"
            "  function testAdd() { $this->assertSame(3, add(1, 2)); }\n"
            "  function testBad() { $this->assertSame(1, 2); }\n}\n",
        },
        {"tests/MulTest.php": PHP + "class MulTest extends TestCase {\n  function testAC1() { $this->assertSame(6, mul(2, 3)); }\n}\n"},
        {"calc.php": "<?php\nfunction add($a, $b) { return $a + $b; }\nfunction mul($a, $b) { return $a * $b; }\n"},
        {"tests/WorseTest.php": PHP + "class WorseTest extends TestCase {\n  function testWorse() { $this->fail('no'); }\n}\n"},
    ),
    "bats": Stack(
        ("bats",),
        1,
        {
            "calc.sh": "add() { echo $(($1 + $2)); }\n",
            "test/calc.bats": BATS + '@test "adds" { [ "$(add 1 2)" = 3 ]; }\n@test "always failed" { false; }\n',
        },
        {"test/mul.bats": BATS + '@test "AC-1 multiplies" { [ "$(mul 2 3)" = 6 ]; }\n'},
        {"calc.sh": "add() { echo $(($1 + $2)); }\nmul() { echo $(($1 * $2)); }\n"},
        {"test/worse.bats": BATS + '@test "worse" { false; }\n'},
    ),
    "node": Stack(
        ("node",),
        1,
        {
            "package.json": '{"scripts": {"test": "node --test test/"}}\n',
            "calc.js": "exports.add = (a, b) => a + b\n",
            "test/calc.test.js": NODE + "test('adds', () => assert.equal(calc.add(1, 2), 3))\ntest('bad', () => assert.equal(1, 2))\n",
        },
        {"test/mul.test.js": NODE + "const mul = require('../mul')\ntest('AC-1 multiplies', () => assert.equal(mul(2, 3), 6))\n"},
        {"mul.js": "module.exports = (a, b) => a * b\n"},
        {"test/worse.test.js": NODE + "test('worse', () => assert.equal(1, 2))\n"},
    ),
    "nextest": Stack(
        ("cargo-nextest",),
        100,
        {
            "Cargo.toml": '[package]\nname = "calc"\n',
            ".config/nextest.toml": '[profile.ci.junit]\npath = "junit.xml"\n',
            "src/lib.rs": "pub fn add(a: u32, b: u32) -> u32 { a + b }\n",
        },
        {"tests/mul.rs": "#[test]\nfn ac_1_multiplies() { assert_eq!(calc::mul(2, 3), 6); }\n"},
        {"src/lib.rs": "pub fn add(a: u32, b: u32) -> u32 { a + b }\npub fn mul(a: u32, b: u32) -> u32 { a * b }\n"},
        {"tests/worse.rs": "#[test]\nfn worse() { assert!(false); }\n"},
        stand_in="cargo",
    ),
    "maven": Stack(("mvn",), 1, {"pom.xml": "<project/>\n", **JAVA["base"]}, JAVA["red"], JAVA["green"], JAVA["worse"], "mvn"),
    "gradle": Stack(("gradle",), 1, {"build.gradle": "\n", **JAVA["base"]}, JAVA["red"], JAVA["green"], JAVA["worse"], "gradle"),
}  # fmt: skip
STAND_INS = {
    "cargo": NEXTEST,
    "mvn": SUREFIRE.replace("{place}", "target/surefire-reports"),
    "gradle": SUREFIRE.replace("{place}", "build/test-results/test"),
}


@pytest.fixture(scope="session")
def go_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("go-cache")


@pytest.fixture(params=STACKS, ids=str)
def stack(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go_cache: Path) -> Stack:
    found = STACKS[request.param]
    monkeypatch.setenv("GOCACHE", str(go_cache))
    if found.stand_in:
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        (bin_folder / found.stand_in).write_text(STAND_INS[found.stand_in])
        (bin_folder / found.stand_in).chmod(0o755)
        monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    elif missing := [p for p in found.programs if shutil.which(p) is None]:
        pytest.skip(f"not installed here: {', '.join(missing)}")
    return found


def proposed(stack: Stack, files: Mapping[str, str]) -> Gate:
    found = detect(files, files.get, lambda name: name in stack.programs)
    return Gate("test", found.gates[0].value, 600.0)


def remember(lab, measured: Measurement) -> None:
    lab.baseline_ref = lab.accepted_ref = measured.tests_ref
    lab.failed_exits = measured.failed_exits


def test_the_proposed_command_counts_known_failures_shows_red_and_comes_to_green(stack, new_lab) -> None:
    lab = new_lab(stack.base, bare=True)
    lab.gates(proposed(stack, {name: dedent(text) for name, text in stack.base.items()}))
    base = lab.measure("baseline")
    assert not base.broken
    assert (base.counts.passing, base.counts.known_failing) == (1, 1), base.gates[0].output
    assert base.failed_exits == {"test": stack.exit_code}
    remember(lab, base)

    red = lab.measure("red", stack.red)
    assert [(t.reason, t.criteria) for t in red.new_tests] == [("missing-name", ("AC-1",))], red.gates[0].output
    assert red.old_tests_broken == ()
    assert red.tricks == ()
    lab.accepted, lab.accepted_ref = lab.save(), red.tests_ref

    assert lab.measure("green").green_runs == 0
    green = lab.measure("green", stack.green)
    assert green.tricks == ()
    assert green.missing == ()
    assert (green.green_runs, green.counts.passing, green.counts.known_failing) == (2, 2, 1), green.gates[0].output

    worse = lab.measure("green", stack.worse)
    assert len(worse.failing) == 1
    assert (worse.gates[0].passed, worse.green_runs) == (False, 0)


REPORT = '<testsuite><testcase classname="a" name="good"/><testcase classname="a" name="bad">{}</testcase></testsuite>'
FAILED, PASSED = REPORT.format('<failure message="no"/>'), REPORT.format("")


def ending(xml: str, code: int, runner: str = "run") -> Gate:
    return Gate("test", f": {runner}; printf '%s' '{xml}' > {{junit}}; exit {code}", 600.0)


@pytest.mark.parametrize(
    ("runner", "before", "now", "passed"),
    [
        ("cargo nextest", 100, 100, True),
        ("cargo nextest", 100, 1, True),
        ("cargo nextest", 100, 101, False),
        ("phpunit", 2, 1, True),
        ("phpunit", 1, 2, True),
        ("mocha", 3, 1, True),
        ("make", 2, 2, True),
        ("dotnet", 1, 3, False),
        ("python -m pytest", 1, 2, False),
        ("any", 100, 139, False),
        ("any", 137, 137, False),
        ("any", 0, 0, True),
        ("any", 1, 0, False),
    ],
)
@pytest.mark.req("C7", "C42")
def test_known_failures_are_accepted_with_the_exit_code_the_runner_gives_for_failed_tests_and_no_other(
    lab, runner: str, before: int, now: int, passed: bool
) -> None:
    lab.gates(ending(FAILED, before, runner))
    remember(lab, lab.measure("baseline"))
    lab.gates(ending(FAILED, now, runner))
    measured = lab.measure("gates", {"other.txt": "x"})
    assert measured.failing == ()
    assert measured.gates[0].passed is passed


@pytest.mark.req("C42")
def test_a_run_that_reports_failures_and_ends_with_0_unlike_before_is_named_exit_forced(lab) -> None:
    lab.gates(ending(FAILED, 100))
    remember(lab, lab.measure("baseline"))
    lab.gates(ending(FAILED, 0))
    measured = lab.measure("gates", {"other.txt": "x"})
    assert [t.kind for t in measured.tricks] == ["exit-forced"]


@pytest.mark.req("C42")
@pytest.mark.parametrize("code", [1, 2, 100])
def test_a_report_without_failures_is_not_believed_where_the_exit_code_says_otherwise(lab, code: int) -> None:
    lab.gates(ending(FAILED, code))
    remember(lab, lab.measure("baseline"))
    lab.gates(ending(PASSED, code))
    assert not lab.measure("gates", {"other.txt": "x"}).gates[0].passed


@pytest.mark.req("C42")
def test_reports_that_lie_in_the_tree_are_of_no_run(lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "bin" / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    lab.gates(Gate("test", maven("mvn"), 600.0))
    measured = lab.measure("gates", {"target/surefire-reports/TEST-a.xml": PASSED})
    assert [t.kind for t in measured.tricks if t.path == "test"] == ["report-missing"]


@pytest.mark.req("C42")
def test_a_build_that_fails_in_green_is_not_called_a_deleted_test(lab) -> None:
    lab.gates(ending(PASSED, 0))
    remember(lab, lab.measure("baseline"))
    lab.gates(Gate("test", "echo 'x.go:1: syntax error'; exit 2; cat {junit}", 600.0))
    measured = lab.measure("green", {"other.txt": "x"})
    assert (measured.tricks, measured.missing, measured.gates[0].passed) == ((), (), False)
