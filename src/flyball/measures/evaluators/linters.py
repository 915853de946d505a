"""Linters of both languages, run once on a tree with flyball's own settings: nothing in the project can silence them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, is_product
from flyball.measures.evaluators.toolbox import AT_ONCE, Toolbox

RUFF = {
    "type safety": ("ANN401", "PGH003"),
    "patterns": ("F401", "F811", "F841"),
    "error handling": ("S110", "S112", "E722"),
    "dead code": ("ERA001", "FIX001", "FIX002", "FIX003", "T201", "T203", "T100"),
    "error recovery": ("S113",),
}
OXLINT = {
    "type safety": ("no-explicit-any", "ban-ts-comment", "no-non-null-assertion"),
    "patterns": ("no-unused-vars", "no-cycle"),
    "error handling": ("no-empty", "no-unsafe-finally"),
    "dead code": (
        "no-console",
        "no-debugger",
        "no-alert",
        "no-warning-comments",
        "no-unreachable",
        "no-constant-condition",
    ),
    "accessibility": ("jsx-a11y",),
}
IN_TESTS_TOO = frozenset({"F401", "F811", "F841", "E722", "ERA001", "FIX001", "FIX002", "FIX003", "T100", "no-unused-vars", "no-debugger", "no-warning-comments", "no-unreachable"})  # fmt: skip
"""What counts in tests as well; the rest is about the product."""
_SETTINGS: dict[str, Any] = {
    "plugins": ["typescript", "unicorn", "import", "jsx-a11y", "react", "promise", "oxc"],
    "categories": {"correctness": "error"},
    "rules": {
        "no-console": ["error", {"allow": ["warn", "error"]}],
        "no-debugger": "error",
        "no-alert": "error",
        "no-empty": ["error", {"allowEmptyCatch": True}],  # a rule of flyball's own reads catches
        "no-unreachable": "error",
        "no-warning-comments": "error",
        "no-unused-vars": "error",
        "import/no-cycle": ["error", {"ignoreTypes": True}],
        "typescript/no-explicit-any": "error",
        "typescript/ban-ts-comment": "error",
        "typescript/no-non-null-assertion": "error",
        "jsx-a11y/click-events-have-key-events": "error",
        "jsx-a11y/no-static-element-interactions": "error",
        "jsx-a11y/label-has-associated-control": "error",
    },
}
_ACTIONS = {
    "ANN401": "give it the type it has",
    "PGH003": "name the code that is ignored, and why",
    "F401": "remove the import",
    "no-unused-vars": "remove it",
    "no-cycle": "move what both need into a third module",
    "S113": "give it a timeout",
    "T201": "remove it, or log it",
    "no-console": "remove it, or log it",
    "no-explicit-any": "give it the type it has",
}
_BESIDE = ("package.json", "tsconfig.json", "jsconfig.json", "tsconfig.base.json", "tsconfig.app.json")
"""What says how modules are named."""
_ENTRY = re.compile(
    r"__name__ == ['\"]__main__['\"]|^#!|^\s*(?:import|from) (?:argparse|click|typer|fire)\b", re.MULTILINE
)
_ENTRY_PATH = re.compile(
    r"(?:^|/)(?:__main__|manage|setup|cli|main)\.py$|(?:^|/)(?:cli|commands?|bin)/|(?:^|/)cli\.[cm]?[jt]s$"
)


class Linters:
    """Runs each linter once for each tree."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._ruff: dict[str, list[tuple[str, TrackDefect]]] = {}
        self._oxlint: dict[str, list[tuple[str, TrackDefect]]] = {}

    def defects(self, tree: SourceTree, pass_name: str) -> list[TrackDefect]:
        """What both linters say for a pass."""
        entries = entry_files(tree)
        found: list[TrackDefect] = []
        if tree.of(*PYTHON):
            found += _wanted(self._python(tree), RUFF.get(pass_name, ()), entries)
        if tree.of(*SCRIPTS):
            found += _wanted(self._scripts(tree), OXLINT.get(pass_name, ()), entries)
        return found

    def _python(self, tree: SourceTree) -> list[tuple[str, TrackDefect]]:
        key = str(tree.root)
        if key not in self._ruff:
            codes = ",".join(code for some in RUFF.values() for code in some)
            options = ("check", "--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--output-format", "json")
            known = ("--target-version", _target(tree), "--config", "lint.flake8-annotations.allow-star-arg-any=true")
            self._ruff[key] = []
            for files in _portions(tree.of(*PYTHON)):
                raw = self._toolbox.run("ruff", [*options, *known, "--select", codes, "--", *files], cwd=tree.root)
                self._ruff[key] += [_of_ruff(tree, each) for each in self._toolbox.json("ruff", raw) if each["code"]]
        return self._ruff[key]

    def _scripts(self, tree: SourceTree) -> list[tuple[str, TrackDefect]]:
        key = str(tree.root)
        if key not in self._oxlint:
            settings = self._toolbox.folder("oxlint-settings") / "oxlintrc.json"
            settings.write_bytes(msgspec.json.encode(_SETTINGS))
            options = ("-c", str(settings), "--disable-nested-config", "--no-ignore", "--format", "json")
            self._oxlint[key] = []
            files = [path for path in tree.of(*SCRIPTS) if tree.text(path)]
            if files:
                # One call: the linter looks for cycles among the files it is given.
                laid_out = self._toolbox.folder("oxlint-tree")
                tree.copy_to(laid_out, (*files, *(each for each in tree.files if each.endswith(_BESIDE))))
                raw = self._toolbox.run("oxlint", [*options, *files], cwd=laid_out)
                said = self._toolbox.json("oxlint", raw)
                self._oxlint[key] = [found for each in said["diagnostics"] if (found := _of_oxlint(tree, each))]
        return self._oxlint[key]


def _portions(files: Sequence[str]) -> list[Sequence[str]]:
    return [files[start : start + AT_ONCE] for start in range(0, len(files), AT_ONCE)]


def _target(tree: SourceTree) -> str:
    found = re.search(r"requires-python\s*=\s*['\"][^'\"]*3\.(\d+)", tree.text("pyproject.toml"))
    return f"py3{min(max(int(found[1]), 7), 14)}" if found else "py313"


def _of_ruff(tree: SourceTree, said: dict[str, Any]) -> tuple[str, TrackDefect]:
    path = said["filename"].removeprefix(f"{tree.root.resolve()}/").removeprefix(f"{tree.root}/")
    code, line, last = said["code"], said["location"]["row"], said["end_location"]["row"]
    if code == "ERA001":
        line, last = _block(tree, path, line)
    return code, tree.defect(code, said["message"], path, line, end_line=last, action=_ACTIONS.get(code, ""))


def _block(tree: SourceTree, path: str, line: int) -> tuple[int, int]:
    """The whole comment a line belongs to: it is one piece of code."""
    first = last = line
    while tree.line(path, first - 1).lstrip().startswith("#"):
        first -= 1
    while tree.line(path, last + 1).lstrip().startswith("#"):
        last += 1
    return first, last


def _of_oxlint(tree: SourceTree, said: dict[str, Any]) -> tuple[str, TrackDefect] | None:
    labels = said.get("labels") or []
    found = re.fullmatch(r"([\w-]+)\(([\w/-]+)\)", said.get("code") or "")
    if not labels or not found:
        return None
    line = int(labels[0]["span"]["line"])
    text = said["message"]
    plugin, rule = found[1].removeprefix("eslint-plugin-"), found[2]
    name = plugin if plugin == "jsx-a11y" else rule
    shown = f"jsx-a11y/{rule}" if plugin == "jsx-a11y" else rule
    return name, tree.defect(shown, text, said["filename"].removeprefix("./"), line, action=_ACTIONS.get(rule, ""))


def _wanted(
    found: Sequence[tuple[str, TrackDefect]], names: Sequence[str], entries: frozenset[str]
) -> list[TrackDefect]:
    kept = []
    for name, defect in found:
        talks = name in {"T201", "T203", "no-console"} and (defect.file in entries or "file=sys.stderr" in defect.text)
        fixed = name == "ANN401" and re.search(r"`__\w+__`", defect.message)  # the language gives these their signature
        reexport = name == "F401" and defect.file.endswith("__init__.py")
        if (
            name in names
            and not talks
            and not reexport
            and not fixed
            and (name in IN_TESTS_TOO or is_product(defect.file))
        ):
            kept.append(defect)
    return kept


def entry_files(tree: SourceTree) -> frozenset[str]:
    """Files a person starts: what they print is meant for that person."""
    scripts = re.findall(r"=\s*['\"]([\w.]+):\w+['\"]", tree.text("pyproject.toml") + tree.text("setup.cfg"))
    modules = {name.replace(".", "/") + ".py" for name in scripts}
    named = set(re.findall(r"['\"]\.?/?([\w./-]+\.[cm]?[jt]s)['\"]", tree.text("package.json")))
    found = set()
    for path in tree.of(*PYTHON, *SCRIPTS):
        by_name = _ENTRY_PATH.search(path) or path in named or any(path == m or path.endswith(f"/{m}") for m in modules)
        if by_name or _ENTRY.search(tree.text(path)):
            found.add(path)
    return frozenset(found)
