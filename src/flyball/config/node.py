"""How a package of Node's is set up and tested: its scripts are followed to the runner they start, so that tests are counted."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flyball.config.finding import Installed, Reader, StackFound, json_table, sub

_ESLINT = re.compile(r"eslint\.config\.(?:js|mjs|cjs|ts|mts)|\.eslintrc(?:\.(?:js|cjs|json|ya?ml))?")
_NO_TEST = "no test specified"
_JEST_JUNIT = (
    "JEST_JUNIT_OUTPUT_FILE={junit} JEST_JUNIT_ADD_FILE_ATTRIBUTE=true JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true"
)
"""Without a file's name two tests of one name are one; without errors of suites a file that cannot be loaded is left out."""
_OPERATORS = re.compile(r"[;&|<>$`()\n]")
_AND = re.compile(r"\s*&&\s*")
_SCRIPT = re.compile(r"(?:npm|pnpm|yarn)(?: run(?:-script)?)?(?: -s| --silent)? ([\w:.-]+)")
_VARIABLES = re.compile(r"((?:[A-Z_a-z]\w*=\S* )*)(.*)", re.DOTALL)
_AROUND = re.compile(r"(?:(?:npx|c8|nyc|cross-env)\b(?:\s+\S+)*?\s+)?(?=(?:node|mocha|vitest|jest|borp)\b)(.*)")
"""What measures coverage or sets variables around a runner: which lines tests reach is no part of whether they pass."""

_LOOKS = re.compile(
    r"\b(?:eslint|standard|xo|prettier|biome|oxlint|ts-standard|tsd|tstyche|attw|publint|lint)\b|--noEmit\b"
)
"""What looks at sources and makes nothing that tests would need."""
_LEFT = "; the rest of its test script says nothing of tests and is not run"
_BY_THE_SHELL = frozenset("node npm npx pnpm yarn cd cp echo export mkdir mv rm sh test true".split())


def node(files: frozenset[str], read: Reader, installed: Installed) -> StackFound | None:
    if "package.json" not in files:
        return None
    manifest = json_table(read("package.json"))
    packages = {**sub(manifest, "dependencies"), **sub(manifest, "devDependencies")}
    gate, gate_reason = _gate(packages, sub(manifest, "scripts"))
    setup, setup_reason = _setup(files, installed)
    linted = any(_ESLINT.fullmatch(path) for path in files) or "eslintConfig" in manifest
    return StackFound(
        "node", gate, gate_reason, setup, setup_reason,
        lint="npx --no-install eslint ." if linted else "", lint_reason="eslint is configured",
        environment=("node_modules",),
    )  # fmt: skip


def _gate(packages: Mapping[str, Any], scripts: Mapping[str, Any]) -> tuple[str, str]:
    script = str(scripts.get("test", ""))
    parts = list(_parts("test", scripts))
    for at, part in enumerate(parts):
        found = _runner(part, packages)
        if found:
            built = [_in_a_shell(each) for each in parts[:at] if not _LOOKS.search(each)]
            left = len(parts) - 1 - len(built)
            return " && ".join([*built, found[0]]), f"package.json tests with {found[1]}{_LEFT if left else ''}"
    for name in ("vitest", "jest"):
        if name in packages and not parts:
            command, called = _RUNNERS[name](name, packages)
            return command, f"package.json has {called}"
    if script and _NO_TEST not in script:
        return "npm test", "package.json has a test script; its tests are not counted one by one"
    return "", ""


def _parts(name: str, scripts: Mapping[str, Any], seen: tuple[str, ...] = ()) -> Iterator[str]:
    """The commands a script comes down to, where one after the other has to succeed."""
    text = scripts.get(name)
    if not isinstance(text, str) or name in seen or _NO_TEST in text:
        return
    for part in _AND.split(text.strip()):
        other = _SCRIPT.fullmatch(part)
        if other and other[1] in scripts:
            yield from _parts(other[1], scripts, (*seen, name))
        else:
            yield part


def _in_a_shell(part: str) -> str:
    """A command of a script as a shell can start it: scripts find the programs of node_modules by name."""
    first = part.partition(" ")[0]
    return part if first in _BY_THE_SHELL or "=" in first else f"npx --no-install {part}"


def _runner(part: str, packages: Mapping[str, Any]) -> tuple[str, str] | None:
    """How a command is run so that it writes a report, and what its runner is called; None for what no runner is known of."""
    before, rest = _VARIABLES.fullmatch(part).groups()  # type: ignore[union-attr]
    around = _AROUND.fullmatch(rest)
    if _OPERATORS.search(part) or around is None:
        return None
    command = around[1]
    before += "".join(f"{word} " for word in rest[: -len(command)].split() if re.fullmatch(r"[A-Z_]+=\S*", word))
    make = _RUNNERS.get(command.split()[0])
    made = make(command, packages) if make else None
    return (before + made[0], made[1]) if made and made[0] else None


def _node(command: str, _packages: Mapping[str, Any]) -> tuple[str, str]:
    if not re.search(r"\s--test(?:\s|$)", command):
        return "", ""
    # Node takes what follows a file's name for another file.
    options = "--test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination={junit}"
    return re.sub(r"\s--test(?=\s|$)", f" --test {options}", command, count=1), "node's own runner"


def _vitest(command: str, _packages: Mapping[str, Any]) -> tuple[str, str]:
    words = [word for word in command.split()[1:] if word not in {"run", "--watch", "watch", "--coverage"}]
    return " ".join(["npx --no-install vitest run", *words, "--reporter=junit --outputFile={junit}"]), "vitest"


def _jest(command: str, packages: Mapping[str, Any]) -> tuple[str, str]:
    words = [word for word in command.split()[1:] if word not in {"--ci", "--watch", "--watchAll", "--coverage"}]
    line = " ".join(["npx --no-install jest --ci", *words])
    if "jest-junit" in packages:
        return f"{_JEST_JUNIT} {line} --reporters=default --reporters=jest-junit", "jest and jest-junit"
    return line, "jest; with jest-junit its tests could be counted"


_RUNNERS: dict[str, Callable[[str, Mapping[str, Any]], tuple[str, str]]] = {
    "node": _node,
    # In the plural every version of mocha knows the option.
    "mocha": lambda command, _: (
        f"npx --no-install {command} --reporter xunit --reporter-options output={{junit}}",
        "mocha",
    ),
    "vitest": _vitest,
    "jest": _jest,
    "borp": lambda command, _: (f"npx --no-install {command} --reporter=spec --reporter=junit:{{junit}}", "borp"),
}


def _setup(files: frozenset[str], installed: Installed) -> tuple[str, str]:
    for lock, program, command in (
        ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn", "yarn install --frozen-lockfile"),
        ("package-lock.json", "", "npm ci"),
    ):
        if lock in files and (not program or installed(program)):
            return command, f"there is a {lock}"
    return "npm install", "there is a package.json"
