"""C45: a gate is made of what it runs, loads and is configured by, in whatever way; what it examines is the product and free."""

import json

import pytest

from flyball.core.model.task import Gate, Settings
from flyball.measures.tampering.gate_scripts import makings
from flyball.measures.tampering.protected import is_configuration
from flyball.measures.tampering.sections import restore

pytestmark = pytest.mark.req("C45")

TREE = {
    "check.js": b"const assert = require('assert');\nconst {add} = require('./calc.js');\nconst same = require('./mini-assert');\n",
    "calc.js": b"exports.add = (a, b) => a + b;\n",
    "mini-assert.js": b"",
    "reg.js": b"",
    "test.sh": b'#!/bin/sh\nout=$(sh greet.sh Bob)  # sh other.sh\n[ "$out" = Hello ] || exit 1\n./wave.sh\nsh tools/more.sh\n. lib/assert.sh\n',
    "other.sh": b"",
    "greet.sh": b"echo Hello\n",
    "wave.sh": b"",
    "tools/more.sh": b"",
    "lib/assert.sh": b"",
    "list.txt": b"",
    "tools/check.py": b"import subprocess\nsubprocess.run(['sh', 'inner.sh'], check=True)\n"
    b"out = subprocess.check_output(['sh', 'greet.sh'])\n",
    "inner.sh": b"hatch run test\n",
    "app.py": b"",
    "boot.rb": b"",
    "check.rb": b"load 'boot.rb'\n",
    "run.js": b"const { execSync, spawnSync } = require('child_process');\nspawnSync('sh', ['inner.sh']);\nconst out = execSync('sh greet.sh');\n",
    "drive.sh": b"sh inner.sh\n! sh greet.sh bad\nsh wave.sh > out.txt\n",
    "tests/run.sh": b". lib/assert.sh\nsh greet.sh\n",
    "tests/unit.sh": b"source ./greet.sh\n[ $(greet) = Hello ]\n",
    "verify.py": b"import helper_rules\nimport app\nimport shapes\n",
    "helper_rules.py": b"",
    "shapes.py": b"def check_square(x):\n    assert x == x\n",
}


@pytest.mark.parametrize(
    ("command", "made_of"),
    [
        ("node -r ./reg --test", "reg.js"),
        ("node --require=./reg.js app.js", "reg.js"),
        ("node --experimental-loader ./reg.js --test", "reg.js"),
        ("xargs -a list.txt pytest", "list.txt"),
        ("pytest @list.txt", "list.txt"),
        ("bash -c '. lib/assert.sh; pytest'", "lib/assert.sh"),
        ("python -c 'import tools.check'", "tools/check.py inner.sh"),
        ("python3 tools/check.py", "tools/check.py inner.sh"),
        ("node -e \"require('./check.js')\"", "check.js mini-assert.js"),
        ("node run.js", "run.js inner.sh"),
        ("ruby -r./boot -e 'puts 1'", "boot.rb"),
        ("ruby check.rb", "check.rb"),
        ("sh tests/run.sh", "lib/assert.sh"),
        ("bash -o pipefail -c 'sh inner.sh | tee log'", "inner.sh"),
        ("python verify.py", "verify.py helper_rules.py shapes.py"),
    ],
)
def test_what_a_gate_runs_or_loads_in_any_way_belongs_to_it(command: str, made_of: str) -> None:
    assert makings(command, frozenset(TREE), TREE.get).files == set(made_of.split())


@pytest.mark.parametrize(
    ("command", "made_of"),
    [
        ("node check.js", "check.js mini-assert.js"),
        ("sh test.sh", "test.sh tools/more.sh lib/assert.sh"),
        ("sh drive.sh", "drive.sh inner.sh"),
        ("shellcheck greet.sh wave.sh", ""),
        ("python -c 'import app; app.selftest()'", ""),
        ("node -e \"require('./calc.js')\"", ""),
        ("sh greet.sh | grep -q Hello", ""),
        ("bash tests/unit.sh", ""),
        ('test -n "$(sh greet.sh)"', ""),
    ],
)
def test_the_product_that_a_gate_examines_is_free_though_it_lies_beside_it(command: str, made_of: str) -> None:
    assert makings(command, frozenset(TREE), TREE.get).files == set(made_of.split())


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("hatch run test", "hatch.toml"),
        ("robot suites", "robot.toml"),
        ("python -m robot suites", "robot.toml"),
        ("deno test", "deno.jsonc"),
        ("npx ava", "ava.config.mjs"),
        ("rspec", ".rspec"),
        ("./node_modules/.bin/nyc mocha", ".nycrc.yml"),
        ("grunt check", "Gruntfile.js"),
        ("inv check", "tasks.py"),
        ("./gradlew test", "gradle.properties"),
        ("docker compose run test", "compose.yml"),
        ("anything-new --all", "web/.anything-newrc.json"),
        ("pytest", "tsconfig.spec.json"),
    ],
)
def test_a_file_with_the_name_of_a_program_and_of_settings_configures_it(command: str, path: str) -> None:
    assert is_configuration(path, Settings(gates=(Gate("a", command),)))


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cargo test", "Cargo.toml"),
        ("go test ./...", "go.mod"),
        ("composer test", "composer.json"),
        ("python app.py --selftest", "app.toml"),
        ("node server.js", "server.json"),
        ("pytest", "next.config.js"),
        ("pytest", "tsconfig.json"),
        ("hatch run test", "src/hatch.py"),
        ("pytest", "docs/hatch.md"),
    ],
)
def test_manifests_and_settings_of_the_product_are_its_own(command: str, path: str) -> None:
    assert not is_configuration(path, Settings(gates=(Gate("a", command),)))


def test_programs_are_followed_through_scripts_and_a_program_of_the_tree_has_settings_of_its_own() -> None:
    assert makings("sh drive.sh", frozenset(TREE), TREE.get).programs == {"hatch"}
    files = {**TREE, "greeter/__init__.py": b""}
    assert makings("python -m greeter.selftest", frozenset(files), files.get).programs == frozenset()


def test_tasks_and_lint_of_a_deno_manifest_are_put_back_and_dependencies_are_free() -> None:
    accepted = {"tasks": {"test": "deno test"}, "imports": {"@std/assert": "jsr:@std/assert@1"}}
    candidate = {
        "tasks": {"test": "true"},
        "lint": {"exclude": ["src"]},
        "imports": accepted["imports"] | {"x": "npm:x"},
    }
    found = restore("deno.json", json.dumps(accepted).encode(), json.dumps(candidate).encode(), "deno task test")
    assert found is not None
    assert json.loads(found.content) == {"tasks": accepted["tasks"], "imports": candidate["imports"]}


@pytest.mark.parametrize(
    "text", ["sh -c '", '"', "$(", "`", "a | | b", "((((", "x > ", "$(" * 5_000, "case x) sh a;; esac"]
)
def test_a_text_that_no_shell_would_take_is_read_to_its_end(text: str) -> None:
    assert makings(text, frozenset(TREE), TREE.get).files is not None


@pytest.mark.parametrize(
    "command", ["test -f app.py", "[ -f app.py ] || exit 1", "if test -f app.py -a -s calc.js; then exit 0; fi"]
)
def test_a_file_that_a_gate_only_asks_about_is_free(command: str) -> None:
    assert makings(command, frozenset(TREE), TREE.get).files == frozenset()
