"""Proposes a flyball.toml for a project from the files that lie in it; it runs nothing."""

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from flyball.config.finding import Installed, Reader
from flyball.config.stacks import stacks
from flyball.core.loop.questions import CHECKED_BY
from flyball.core.model.task import CLI_TYPES, QaSettings
from flyball.core.workflows.registry import DEFAULT

LOGINS: dict[bool | None, str] = {True: "logged in", None: "login not known", False: "not logged in"}
"""From the most to the least welcome."""
_CHANGELOG = re.compile(r"(?:docs/)?(?:CHANGELOG|CHANGES|HISTORY|NEWS)(?:\.(?:md|rst|txt|adoc))?", re.IGNORECASE)
_README = re.compile(r"README(?:\.(?:md|rst|txt|adoc))?", re.IGNORECASE)
_DECISION = re.compile(r"(?:.*/)?decisions/[^/]+|(?:.*/)?ADR-[^/]*", re.IGNORECASE)
_MANIFESTS = frozenset(
    "pyproject.toml setup.py package.json go.mod Cargo.toml pom.xml build.gradle build.gradle.kts composer.json Gemfile".split()
)
_OTHERS = re.compile(
    r"\..*|node_modules|vendor|third_party|examples?|fixtures?|testdata|tests?|docs?|templates?|site-packages"
)
"""Folders of what is not a project of its own."""
_DEEPEST = 3
_MEASURED = re.compile(r".*\.(?:py|js|jsx|ts|tsx|go|rs|java|kt|c|cc|cpp|h|cs|rb|php|swift|scala|lua)")


class SettingLine(msgspec.Struct, frozen=True):
    key: str
    value: str
    reason: str


class Proposal(msgspec.Struct, frozen=True):
    stack: tuple[str, ...] = ()
    setup: SettingLine | None = None
    lint: SettingLine | None = None
    gates: tuple[SettingLine, ...] = ()
    environment: tuple[str, ...] = ()
    qa_off: tuple[SettingLine, ...] = ()
    agents: tuple[str, ...] = ()
    agent: SettingLine | None = None
    elsewhere: tuple[SettingLine, ...] = ()
    """Gates for projects below the root, which a person may want; none is on by itself."""


def detect(
    files: Collection[str],
    read: Reader,
    installed: Installed,
    logged_in: Callable[[str], bool | None] = lambda _: None,
) -> Proposal:
    """Look at the repository's files, given as paths below its root; `installed` says whether a program is there.

    The first stack found sets things up; where several have gates, each gets one under a name of its own.
    """
    found = stacks(frozenset(files), read, installed)
    tested = [f for f in found if f.gate]
    there = [name for name in CLI_TYPES if installed(name)]
    lint = _combined_setting("lint", [(f.lint, f.lint_reason) for f in found if f.lint])
    return Proposal(
        stack=tuple(f.stack for f in found),
        setup=_combined_setting("setup", [(f.setup, f.setup_reason) for f in found if f.setup]),
        lint=lint,
        gates=tuple(
            SettingLine("test" if len(tested) == 1 else f"test-{f.stack}", f.gate, f.gate_reason) for f in tested
        ),
        environment=tuple(dict.fromkeys(name for f in found for name in f.environment)),
        qa_off=tuple(_qa_off(files, has_lint=lint is not None)),
        agents=tuple(there),
        agent=_choose_agent(there, logged_in),
        elsewhere=tuple(_elsewhere(frozenset(files), read, installed, {f.stack for f in found})),
    )


def without_tools(proposal: Proposal, unusable: Mapping[str, str]) -> Proposal:
    """The same proposal with the checks off whose tool was tried and cannot run, each with the reason."""
    off = list(proposal.qa_off)
    for name, why in unusable.items():
        command = proposal.lint.value if name == "lint" and proposal.lint else name
        instead = f'; once it can, write lint = "{command}" above and remove this' if name == "lint" else ""
        off.append(SettingLine(CHECKED_BY[name], "off", f"{command} cannot be run here: {why}{instead}"))
    lint = None if "lint" in unusable else proposal.lint
    return msgspec.structs.replace(proposal, lint=lint, qa_off=tuple(off))


def render(proposal: Proposal) -> str:
    return "\n".join((*_head(proposal), *_agents(proposal), *_gate_lines(proposal), *_qa_lines(proposal), ""))


def _choose_agent(there: Sequence[str], logged_in: Callable[[str], bool | None]) -> SettingLine | None:
    known = {name: logged_in(name) for name in there}
    order = list(LOGINS)
    best = min(there, key=lambda name: order.index(known[name]), default=None)
    return None if best is None else SettingLine("agent", best, f"installed here, {LOGINS[known[best]]}")


def _combined_setting(key: str, commands: Sequence[tuple[str, str]]) -> SettingLine | None:
    reasons = "; ".join(dict.fromkeys(reason for _, reason in commands))
    return SettingLine(key, " && ".join(command for command, _ in commands), reasons) if commands else None


def _elsewhere(
    files: frozenset[str], read: Reader, installed: Installed, covered: Collection[str]
) -> Iterator[SettingLine]:
    """A gate for each folder with a manifest of a stack that no gate of the root covers: a second project in a monorepo."""
    taken: list[str] = []
    for folder in sorted({path.rpartition("/")[0] for path in files if path.rpartition("/")[2] in _MANIFESTS} - {""}):
        parts = folder.split("/")
        inside = any(folder.startswith(f"{other}/") for other in taken)
        if inside or len(parts) > _DEEPEST or any(map(_OTHERS.fullmatch, parts)):
            continue
        below = frozenset(path.removeprefix(f"{folder}/") for path in files if path.startswith(f"{folder}/"))
        there = stacks(below, partial(_read_below, read, folder), installed)
        other = next((finding for finding in there if finding.stack not in covered), None)
        if other:
            taken.append(folder)
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder)
            command = f"cd {shlex.quote(folder)} && {other.gate}" if other.gate else ""
            yield SettingLine(f"test-{name}", command, f"{folder} is a {other.stack} project, and no gate covers it")


def _read_below(read: Reader, folder: str, name: str) -> str | None:
    return read(f"{folder}/{name}")


def _qa_off(files: Collection[str], *, has_lint: bool) -> Iterator[SettingLine]:
    def absent(pattern: re.Pattern[str]) -> bool:
        return not any(pattern.fullmatch(path) for path in files)

    if not has_lint:
        yield SettingLine("lint_clean", "off", "no linter is configured here")
    if absent(_MEASURED):
        yield SettingLine("complexity", "off", "no file is in a language whose complexity can be measured")
        yield SettingLine("duplication", "off", "no file is in a language whose duplication can be measured")
    if absent(_README):
        yield SettingLine("readme", "off", "there is no README")
    if absent(_DECISION):
        yield SettingLine("decision_record", "off", "there are no decision records (decisions/ or ADR-*)")
    if absent(_CHANGELOG):
        yield SettingLine("changelog", "off", "there is no changelog")


def _head(proposal: Proposal) -> Iterator[str]:
    seen = ", ".join(proposal.stack)
    yield "# Settings of flyball. Every key: docs/reference/configuration.md of flyball."
    yield f"# Found here: {seen}." if seen else "# No build or test tool was recognised here."
    yield ""
    yield f'workflow = "{DEFAULT}"'
    for line in (proposal.agent, proposal.setup, proposal.lint):
        if line is not None:
            yield ""
            yield from _setting(line)
    yield ""


def _agents(proposal: Proposal) -> Iterator[str]:
    if proposal.agents:
        yield f"# Agents found on this machine: {', '.join(proposal.agents)}."
    yield "# Any other program is an agent, too: it gets the prompt on standard input and works in the folder it is started in."
    yield '# Name it here and in agent = "mine", or pass it: flyball run --agent-command "PROGRAM ARGUMENT"'
    yield "# [agents.mine]"
    yield '# command = ["PROGRAM", "ARGUMENT"]'
    yield ""


def _gate_lines(proposal: Proposal) -> Iterator[str]:
    yield "[gates]"
    if not proposal.gates:
        yield "# No way to run tests was found. A gate is a command that ends with 0 when all is well;"
        yield "# {junit} in it becomes the path of the JUnit report flyball wants."
        yield '# test = "COMMAND {junit}"'
    for line in proposal.gates:
        yield from _setting(line)
    for line in proposal.elsewhere:
        yield f"# {line.reason}." + (" To cover it, once what it needs is installed there:" if line.value else "")
        if line.value:
            yield f"# {line.key} = {_text(line.value)}"
    if proposal.environment:
        yield "# Installed dependencies: gates see these folders though git does not."
        yield f"environment = [{', '.join(_text(name) for name in proposal.environment)}]"
    yield ""


def _qa_lines(proposal: Proposal) -> Iterator[str]:
    known = QaSettings.__struct_fields__
    yield "[qa]"
    yield "# A check that is off is shown as unverified in every report."
    for line in sorted(proposal.qa_off, key=lambda one: known.index(one.key)):
        yield from _setting(line)


def _setting(line: SettingLine) -> Iterator[str]:
    yield f"# {line.reason}"
    yield f"{line.key} = {_text(line.value)}"


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
