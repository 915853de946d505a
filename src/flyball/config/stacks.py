"""What marks a project as Python, Node, Go or another stack, how its tests are run so that they can be counted, and how it is built."""

import re
import tomllib
from collections.abc import Collection, Iterator
from typing import Any

from flyball.config.finding import Installed, Reader, StackFound, json_table as _json, sub as _sub
from flyball.config.node import node
from flyball.core.loop import junit_hint

_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_RUFF = frozenset({"ruff.toml", ".ruff.toml"})
_MAKE_TEST = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_SCRIPTS = tuple(
    f"{folder}{name}.sh"
    for folder in ("", "tests/", "test/", "scripts/", "script/")
    for name in ("run", "run-tests", "run_tests", "runtests", "test", "tests")
    if folder or name != "run"
)
_FOR_TESTS = ("test", "tests", "testing", "dev")
"""What extras, dependency groups and requirement files are called that bring what tests need, the smallest first."""
_PYTEST_OPTIONS = re.compile(
    r"^\[(?:tool\.pytest(?:\.ini_options)?|tool:pytest|pytest)\]\n((?:(?!\[[\w.:\"-]+\]$).*\n?)*)", re.MULTILINE
)
_PLUGINS = {
    "--cov(?:-\\w+)*": "pytest-cov", "(?:-n(?:auto|logical|\\d+)?|--numprocesses|--dist)": "pytest-xdist", "--timeout": "pytest-timeout",
    "--benchmark(?:-\\w+)*": "pytest-benchmark", "--asyncio-mode": "pytest-asyncio", "--mypy": "pytest-mypy",
    "--doctest-plus": "pytest-doctestplus", "--randomly-seed": "pytest-randomly", "--reruns": "pytest-rerunfailures",
    "--ruff": "pytest-ruff", "--flake8": "pytest-flake8", "--isort": "pytest-isort", "--black": "pytest-black",
}  # fmt: skip
"""By an option in pytest's configuration, the plugin that knows it."""
_KNOWS_GROUPS = "pip>=25.1"
_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"))
_BY_FILE = (
    ("Cargo.toml", "cargo build"),
    ("go.mod", "go build ./..."),
    ("pom.xml", "mvn -q -DskipTests package"),
    ("build.gradle", "gradle assemble"),
    ("build.gradle.kts", "gradle assemble"),
)


def stacks(files: frozenset[str], read: Reader, installed: Installed) -> tuple[StackFound, ...]:
    """Every stack found; bats, make and a script of tests only where nothing else says how to test."""
    found = [f for finder in (python, node, go, rust, java, php, ruby, dotnet) if (f := finder(files, read, installed))]
    for finder in (bats, make, shell):
        if not any(finding.gate for finding in found) and (other := finder(files, read, installed)):
            found.append(other)
    return tuple(found)


def python(files: frozenset[str], read: Reader, installed: Installed) -> StackFound | None:
    marks = [
        m for m in ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "Pipfile") if m in files
    ]
    tests = sorted(path for path in files if _TEST_FILE.fullmatch(path))
    if not marks and not tests:
        return None
    manifest = _toml(read("pyproject.toml") if "pyproject.toml" in files else None)
    linted = bool(files & _RUFF) or "ruff" in _sub(manifest, "tool")
    runner = _python_runner(files, read, tests)
    tools = [runner, *_plugins(files, read)] if runner == "pytest" else []
    tools += ["ruff"] if linted and not installed("ruff") else []
    setup, setup_reason = _python_setup(files, read, manifest, installed, tools)
    program = ".venv/bin/python" if setup or ".venv/bin/python" in files else "python3"
    gate, gate_reason = _python_gate(runner, tests, program)
    return StackFound(
        "python", gate, gate_reason, setup, setup_reason,
        lint=_ruff(program, installed) if linted else "", lint_reason="ruff is configured",
        environment=(".venv",),
    )  # fmt: skip


def _plugins(files: frozenset[str], read: Reader) -> list[str]:
    """The plugins of pytest whose options are configured: without them it refuses to start."""
    places = ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini")
    said = "\n".join(part for name in places if name in files for part in _PYTEST_OPTIONS.findall(read(name) or ""))
    return [plugin for option, plugin in _PLUGINS.items() if re.search(rf"(?<![\w-]){option}(?![\w])", said)]


def _ruff(program: str, installed: Installed) -> str:
    return "ruff check ." if installed("ruff") else f"{program} -m ruff check ."


def _python_runner(files: frozenset[str], read: Reader, tests: list[str]) -> str:
    if not tests:
        return ""
    configured = any(
        "pytest" in (read(name) or "") for name in ("pyproject.toml", "setup.cfg", "tox.ini") if name in files
    )
    listed = any(
        "pytest" in (read(n) or "") for n in sorted(files) if re.fullmatch(r"(?:requirements/)?[\w-]*\.(?:txt|in)", n)
    )
    named = bool(files & {"pytest.ini", "conftest.py", "tests/conftest.py"})
    plain = all("import unittest" in (read(path) or "") for path in tests[:20])
    return "unittest" if plain and not (configured or listed or named) else "pytest"


def _python_gate(runner: str, tests: list[str], program: str) -> tuple[str, str]:
    if not runner:
        return "", ""
    if runner == "unittest":
        return f"{program} -m unittest discover", f"{tests[0]} uses unittest; its tests are not counted one by one"
    return f"{program} -m pytest -q --junit-xml={{junit}}", f"{tests[0]} is a pytest file"


def _python_setup(
    files: frozenset[str], read: Reader, manifest: dict[str, Any], installed: Installed, tools: list[str]
) -> tuple[str, str]:
    """What installs the project with what its tests need; `tools` are added where nothing that is installed names them."""
    extras, groups = _sub(_sub(manifest, "project"), "optional-dependencies"), _sub(manifest, "dependency-groups")
    extra, group = _for_tests(extras), _for_tests(groups)
    if "uv.lock" in files and installed("uv"):
        more = (f" --group {group}" if group not in {"", "dev"} else "") + (f" --extra {extra}" if extra else "")
        return f"uv sync --frozen{more}", "there is a uv.lock"
    if "poetry.lock" in files and installed("poetry"):
        return "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install", "there is a poetry.lock"
    lists = [name for name in ("requirements.txt", _requirements_for_tests(files)) if name in files]
    wanted, reasons = "".join(f" -r {name}" for name in lists), list(lists)
    if "setup.py" in files or "build-system" in manifest or "project" in manifest:
        wanted += f" -e '.[{extra}]'" if extra else " -e ."
        reasons += [f"the extra {extra}"] if extra else [] if lists else ["the project"]
    if group:
        wanted += f" --group {group}"
        reasons.append(f"the dependency group {group}")
    if not wanted:
        return "", ""
    said = " ".join([*(read(name) or "" for name in lists), str(extras.get(extra)), *_group(groups, group)])
    missing = [tool for tool in tools if not re.search(rf"\b{tool}\b(?!-)", said)]
    wanted += "".join(f" {_with_version(tool, files, read)}" for tool in missing)
    # Packages in the virtual environment win over the machine's, which still lends what nobody listed.
    begun = "python3 -m venv --system-site-packages .venv"
    reason = f"{', '.join(reasons)} {'says' if len(reasons) == 1 else 'say'} what to install"
    if missing:
        reason += f"; {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} used here and not listed"
    if installed("uv"):
        return f"{begun} && uv pip install -q --python .venv/bin/python{wanted}", reason
    newer = f".venv/bin/python -m pip install -q '{_KNOWS_GROUPS}' && " if group else ""
    return f"{begun} && {newer}.venv/bin/python -m pip install -q{wanted}", reason


def _with_version(tool: str, files: frozenset[str], read: Reader) -> str:
    """A tool in the version that pre-commit runs here: another one finds other things."""
    hooks = read(".pre-commit-config.yaml") or "" if ".pre-commit-config.yaml" in files else ""
    told = re.search(rf"repo: \S+/{tool}-pre-commit\s+rev: [\"']?v?(\d+(?:\.\d+)+)", hooks)
    return f"{tool}=={told[1]}" if told else tool


def _for_tests(table: dict[str, Any]) -> str:
    return next((name for word in _FOR_TESTS for name in table if name.lower() == word), "")


def _requirements_for_tests(files: frozenset[str]) -> str:
    shapes = (
        "requirements/{}.txt", "requirements-{}.txt", "requirements_{}.txt", "requirements.{}.txt", "{}-requirements.txt",
        "{}_requirements.txt", "{}.requirements.txt",
    )  # fmt: skip
    names = (shape.format(word) for word in (*_FOR_TESTS, "development") for shape in shapes)
    return next((name for name in names if name in files), "")


def _group(groups: dict[str, Any], name: str, seen: tuple[str, ...] = ()) -> Iterator[str]:
    """The requirements of a dependency group and of those it includes."""
    for each in groups.get(name) or () if isinstance(groups.get(name), list) and name not in seen else ():
        if isinstance(each, dict):
            yield from _group(groups, str(each.get("include-group")), (*seen, name))
        else:
            yield str(each)


def go(files: frozenset[str], _read: Reader, installed: Installed) -> StackFound | None:
    if "go.mod" not in files:
        return None
    if installed("gotestsum"):
        return StackFound("go", "gotestsum --junitfile {junit} -- ./...", "go.mod, and gotestsum is installed")
    return StackFound("go", "go test ./...", "go.mod; with gotestsum its tests could be counted")


def rust(files: frozenset[str], read: Reader, installed: Installed) -> StackFound | None:
    if "Cargo.toml" not in files:
        return None
    # nextest writes its report where its own configuration says.
    settings = _toml(read(".config/nextest.toml") if ".config/nextest.toml" in files else None)
    store = str(_sub(settings, "store").get("dir") or "target/nextest")
    for profile, table in _sub(settings, "profile").items():
        path = _sub(table, "junit").get("path") if isinstance(table, dict) else None
        if path and installed("cargo-nextest") and re.fullmatch(r"[\w./-]+", f"{store}{profile}{path}"):
            command = junit_hint.nextest(profile, f"{store}/{profile}/{path}")
            return StackFound("rust", command, "Cargo.toml, and nextest writes a report")
    return StackFound("rust", "cargo test", "Cargo.toml; with cargo-nextest its tests could be counted")


def java(files: frozenset[str], _read: Reader, _installed: Installed) -> StackFound | None:
    if "pom.xml" in files:
        return StackFound(
            "java", junit_hint.maven("./mvnw" if "mvnw" in files else "mvn"), "pom.xml; surefire writes reports"
        )
    if files & {"build.gradle", "build.gradle.kts"}:
        command = junit_hint.gradle("./gradlew" if "gradlew" in files else "gradle")
        return StackFound("java", command, "build.gradle; its test task writes reports")
    return None


def php(files: frozenset[str], read: Reader, _installed: Installed) -> StackFound | None:
    manifest = _json(read("composer.json")) if "composer.json" in files else {}
    required = "phpunit/phpunit" in {**_sub(manifest, "require"), **_sub(manifest, "require-dev")}
    if not required and not files & {"phpunit.xml", "phpunit.xml.dist"}:
        return None
    program = "vendor/bin/phpunit" if required else "phpunit"
    folder = "" if files & {"phpunit.xml", "phpunit.xml.dist"} else " tests"
    return StackFound(
        "php", f"{program} --log-junit {{junit}}{folder}", "phpunit writes its report itself",
        setup="composer install --no-interaction --quiet" if required else "", setup_reason="there is a composer.json",
        environment=("vendor",),
    )  # fmt: skip


def ruby(files: frozenset[str], read: Reader, _installed: Installed) -> StackFound | None:
    if not any(path.endswith("_spec.rb") for path in files):
        return None
    locked = "Gemfile" in files
    listed = "".join(read(name) or "" for name in ("Gemfile", "Gemfile.lock") if name in files)
    program = "BUNDLE_PATH=vendor/bundle bundle exec rspec" if locked else "rspec"
    setup = "BUNDLE_PATH=vendor/bundle bundle install --quiet" if locked else ""
    if "rspec_junit_formatter" in listed:
        gate = f"{program} --format progress --format RspecJunitFormatter --out {{junit}}"
        reason = "the Gemfile has rspec_junit_formatter"
    else:
        gate, reason = program, "there are specs; with rspec_junit_formatter they could be counted"
    environment = ("vendor",) if locked else ()
    return StackFound("ruby", gate, reason, setup, "there is a Gemfile", environment=environment)


def dotnet(files: frozenset[str], read: Reader, _installed: Installed) -> StackFound | None:
    projects = sorted(path for path in files if path.endswith((".csproj", ".fsproj", ".vbproj")))
    if not projects and not any(path.endswith(".sln") for path in files):
        return None
    if any("JunitXml.TestLogger" in (read(path) or "") for path in projects):
        command = 'dotnet test --logger "junit;LogFilePath={junit}/{assembly}.xml"'
        return StackFound("dotnet", command, "a project has JunitXml.TestLogger")
    return StackFound(
        "dotnet", "dotnet test", "with JunitXml.TestLogger in its test projects their tests could be counted"
    )


def bats(files: frozenset[str], _read: Reader, _installed: Installed) -> StackFound | None:
    tests = sorted(path for path in files if path.endswith(".bats"))
    if not tests:
        return None
    folder = tests[0].rpartition("/")[0].partition("/")[0] or "."
    return StackFound("bats", junit_hint.bats(folder), f"{tests[0]} is a bats file")


def make(files: frozenset[str], read: Reader, _installed: Installed) -> StackFound | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if name in files and _MAKE_TEST.search(read(name) or ""):
            return StackFound("make", "make test", f"{name} has a target test; its tests are not counted one by one")
    return None


def shell(files: frozenset[str], read: Reader, _installed: Installed) -> StackFound | None:
    for name in _SCRIPTS:
        if name in files:
            program = "bash" if re.match(r"#!.*\bbash\b", read(name) or "") else "sh"
            return StackFound("shell", f"{program} {name}", f"{name} runs tests; they are not counted one by one")
    return None


def build_command(files: Collection[str], read: Reader) -> str:
    """The build command; empty for a project that is not built."""
    if "package.json" in files and "build" in _sub(_json(read("package.json")), "scripts"):
        manager = next((name for lock, name in _MANAGERS if lock in files), "npm")
        return f"{manager} run build"
    if "Makefile" in files and re.search(r"^build\s*:", read("Makefile") or "", re.MULTILINE):
        return "make build"
    return next((command for name, command in _BY_FILE if name in files), "")


def _toml(text: str | None) -> dict[str, Any]:
    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
