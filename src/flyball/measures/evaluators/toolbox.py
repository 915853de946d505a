"""The programs evaluators call: where each is, how to get it, and how it is run within bounds."""

import configparser
import importlib.util
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flyball import process
from flyball.core.extras import install_command
from flyball.core.text.scrubbing import decode, one_line, scrub

EXTRA = install_command("evaluators", sys.executable)
MEMORY_MB = 3072
"""What one tool may use; those that map much without using it are not hindered."""
MOST_OUTPUT = 64 * 1024 * 1024
AT_ONCE = 2000
"""Files named in one call."""


class ToolMissing(Exception):
    """A tool is not installed; the sentence says how to get it."""


class ToolFailed(Exception):
    """A tool crashed, took too long, or said something that cannot be read."""


class Tool(msgspec.Struct, frozen=True):
    """A tool of evaluators: a program or a Python module, what it is for, how to get it, and where a project configures it.

    `settings` are files; a table of a file that other tools share stands behind a colon.
    """

    name: str
    purpose: str
    evaluators: tuple[str, ...]
    settings: tuple[str, ...] = ()
    get: str = EXTRA
    module: str = ""


_ALL = ("ui-ux", "code-quality", "integration", "business-logic")
_UI = install_command("ui", sys.executable)
BROWSER = ("playwright", "axe", "chromium")
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("ruff", "Python: unused, silent, dead, debug", _ALL[1:], ("ruff.toml", ".ruff.toml", "pyproject.toml:tool.ruff")),
        Tool("ast-grep", "flyball's own rules on syntax trees", _ALL, module="ast_grep_py"),
        Tool("oxlint", "TypeScript and JavaScript: unused, any, cycles, accessibility", _ALL, (".oxlintrc.json",)),
        Tool("jscpd", "duplication and unused code", ("code-quality",), (".jscpd.json",)),
        Tool("grimp", "Python import cycles", ("code-quality",), module="grimp"),
        Tool("mypy", "Python types", ("code-quality",), ("mypy.ini", ".mypy.ini", "pyproject.toml:tool.mypy", "setup.cfg:mypy")),
        Tool("kingfisher", "secrets", ("integration",)),
        Tool("squawk", "PostgreSQL migrations", ("integration",), (".squawk.toml",)),
        Tool("typos", "misspelt words in texts for people", ("ui-ux",), ("typos.toml", "_typos.toml", ".typos.toml", "pyproject.toml:tool.typos")),
        Tool("playwright", "pages in a browser", ("ui-ux",), get=_UI, module="playwright"),
        Tool("axe", "accessibility of pages", ("ui-ux",), get=_UI, module="axe_playwright_python"),
        Tool("chromium", "the browser", ("ui-ux",), get="apt install chromium (or set CHROMIUM to the path of a Chrome or Chromium)"),
    )
}  # fmt: skip
Read = Callable[[str], str]
"""The text of a file of the project; empty where there is none."""


def settings_file(name: str, files: Collection[str], read: Read) -> str:
    """The file in which a project configures a tool; empty where it does not."""
    for place in TOOLS[name].settings:
        path, _, table = place.partition(":")
        if path in files and (not table or _has_table(path, read(path), table)):
            return path
    return ""


def _has_table(path: str, text: str, table: str) -> bool:
    try:
        if path.endswith(".toml"):
            found: Any = tomllib.loads(text)
            for step in table.split("."):
                found = found.get(step) if isinstance(found, dict) else None
            return found is not None
        read = configparser.RawConfigParser(strict=False)
        read.read_string(text)
        return read.has_section(table)
    except (tomllib.TOMLDecodeError, configparser.Error):
        return False


def lacking_tools(
    evaluators: Collection[str], tree: Path, environment: Mapping[str, str], *, pages: bool
) -> Iterator[str]:
    """A sentence for each tool that the project configures, these evaluators need, and nobody installed; `pages`: a browser is asked for."""

    def read(path: str) -> str:
        try:
            return (tree / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    files = {place.partition(":")[0] for tool in TOOLS.values() for place in tool.settings}
    there = {path for path in files if (tree / path).is_file()}
    for tool in TOOLS.values():
        place = "[evaluators]" if pages and tool.name in BROWSER else settings_file(tool.name, there, read)
        if place and set(tool.evaluators) & set(evaluators) and not find_tool(tool.name, environment, tree):
            yield f"{place} configures {tool.name}, which is not installed here. Install it with: {tool.get}"


def find_tool(name: str, environment: Mapping[str, str], tree: Path | None = None) -> str:
    """Where a tool is: a path, or the name of the module; empty where neither flyball, PATH nor the project's `tree` has it."""
    tool = TOOLS[name]
    if tool.module:
        return tool.module if importlib.util.find_spec(tool.module) else ""
    chosen = environment.get("CHROMIUM", "") if name == "chromium" else ""
    if chosen:
        return chosen if Path(chosen).is_file() else ""
    beside = Path(sysconfig.get_path("scripts")) / name
    if name != "chromium" and beside.is_file():
        return str(beside)
    others = ("chromium-browser", "google-chrome", "google-chrome-stable") if name == "chromium" else ()
    found = (shutil.which(each, path=environment.get("PATH")) for each in (name, *others))
    own = (tree / folder / name for folder in (".venv/bin", "node_modules/.bin")) if tree else ()
    return next(filter(None, (*found, *(str(each) for each in own if each.is_file()))), "")


class Toolbox:
    """Runs tools for one evaluator, each bounded in time and memory, with a home of its own that is thrown away."""

    def __init__(
        self, scratch: Path, environment: Mapping[str, str], cache: str = "", timeout_s: float = 300.0
    ) -> None:
        self.scratch = scratch
        self.cache = Path(cache) if cache else scratch / "cache"
        self.timeout_s = timeout_s
        self.environment = dict(environment)
        self._count = 0

    def require(self, name: str) -> str:
        """Where a tool is; says how to get it where it is not."""
        found = find_tool(name, self.environment, Path.cwd())
        if not found:
            raise ToolMissing(f"{name} is not installed ({TOOLS[name].purpose}); get it with: {TOOLS[name].get}")
        return found

    def folder(self, name: str) -> Path:
        self._count += 1
        made = self.scratch / f"{self._count:03d}-{name}"
        made.mkdir(parents=True)
        return made

    def run(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        cwd: Path,
        codes: Sequence[int] = (0, 1),
        variables: Mapping[str, str] | None = None,
        program: str = "",
        timeout_s: float | None = None,
    ) -> bytes:
        """What a tool printed; it must end by itself, in time, with one of the codes."""
        folder = self.folder(name)
        limits = f'ulimit -d {MEMORY_MB * 1024} 2>/dev/null; exec "$@"'
        output = folder / "stdout"
        environment = self.environment | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "NO_COLOR": "1"}
        ended = process.run(
            ["/bin/sh", "-c", limits, "sh", program or self.require(name), *arguments],
            cwd=cwd,
            env=environment | dict(variables or {}),
            stdout=output,
            stderr=folder / "stderr",
            wall=timeout_s or self.timeout_s,
            max_bytes=MOST_OUTPUT,
        )
        if ended.ended_by != "exit":
            raise ToolFailed(f"{name} {ended.detail or ended.ended_by}")
        if ended.code not in codes:
            said = one_line(scrub(decode(ended.stderr_tail or ended.stdout_tail)))[-300:]
            how = f"exit {ended.code}" if ended.code is not None else f"signal {ended.signal}"
            raise ToolFailed(f"{name} failed ({how}): {said}")
        return output.read_bytes() if output.exists() else b""

    def json(self, name: str, raw: bytes) -> Any:
        """What a tool said, as data; a sentence before it is passed over."""
        start = min((at for at in (raw.find(b"{"), raw.find(b"[")) if at >= 0), default=0)
        try:
            return msgspec.json.decode(raw[start:])
        except (msgspec.DecodeError, RecursionError) as error:
            raise ToolFailed(f"{name} said something that cannot be read: {error}") from error
