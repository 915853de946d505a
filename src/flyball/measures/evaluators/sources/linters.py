"""Linters of both languages, run once on a tree with the project's settings, as they stood before the track, else with flyball's own."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, Look, SourceTree, TrackTrees, is_product
from flyball.measures.evaluators.sources.commented_code import is_commented_python
from flyball.measures.evaluators.toolbox import AT_ONCE

UNUSED_IMPORT = "unused-import"
"""What oxlint calls an unused variable like any other."""
TYPES = ("ANN001", "ANN201", "ANN202", "ANN205", "ANN206", "ANN401")
"""Missing types and Any: asked for only where the project enables the rules."""
ZONELESS = ("DTZ003", "DTZ004", "DTZ005", "DTZ006")
"""Times without a zone."""
RUFF = {
    "type safety": (*TYPES, "PGH003"),
    "patterns": ("F401", "F811"),
    "error handling": ("S110", "S112", "E722"),
    "dead code": ("ERA001", "F841", "FIX001", "FIX002", "FIX003", "T201", "T203", "T100"),
    "auth flow": ("S324",),
    "error recovery": ("S113",),
    "edge cases": ("B006", *ZONELESS),
}
OXLINT = {
    "type safety": ("no-explicit-any", "ban-ts-comment", "no-non-null-assertion"),
    "patterns": (UNUSED_IMPORT, "no-cycle"),
    "error handling": ("no-empty", "no-unsafe-finally"),
    "dead code": ("no-unused-vars", "no-console", "no-debugger", "no-alert", "no-warning-comments", "no-unreachable", "no-constant-condition"),
    "edge cases": ("use-isnan", "radix"),
    "accessibility": ("jsx-a11y",),
    "copy": ("anchor-ambiguous-text",),
}  # fmt: skip
IN_TESTS_TOO = frozenset({"F401", "F811", "F841", "E722", "ERA001", "FIX001", "FIX002", "FIX003", "T100", "no-unused-vars", UNUSED_IMPORT, "no-debugger", "no-warning-comments", "no-unreachable"})  # fmt: skip
"""What counts in tests as well; the rest is about the product."""
_FIELDS = ["audio", "canvas", "embed", "input", "link", "option", "select", "td", "textarea", "th", "tr", "video"]
"""What a label around it may name, which oxlint does not see; a rule of flyball's own looks at fields."""
_VAGUE = ["click here", "click me", "click", "here", "link", "a link", "this", "this page", "this link", "more", "read more", "learn more", "see more"]  # fmt: skip
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
        "radix": "error",
        "no-unused-vars": ["error", {"args": "none", "caughtErrors": "none"}],  # who calls decides what is handed over
        "import/no-cycle": ["error", {"ignoreTypes": True}],
        "typescript/no-explicit-any": "error",
        "typescript/ban-ts-comment": "error",
        "typescript/no-non-null-assertion": "error",
        "jsx-a11y/click-events-have-key-events": "error",
        "jsx-a11y/no-static-element-interactions": "error",
        "jsx-a11y/label-has-associated-control": "error",
        "jsx-a11y/control-has-associated-label": ["error", {"ignoreElements": _FIELDS}],
        "jsx-a11y/anchor-ambiguous-text": ["error", {"words": _VAGUE}],
        "jsx-a11y/prefer-tag-over-role": "off",  # a role says the same to who needs it
    },
}
_ACTIONS = {
    **dict.fromkeys(TYPES, "give it the type it has"),
    "PGH003": "name the code that is ignored, and why",
    "F401": "remove the import",
    "F841": "remove it",
    "S324": "use scrypt, argon2 or bcrypt",
    "no-unused-vars": "remove it",
    "no-cycle": "move what both need into a third module",
    "S113": "give it a timeout",
    "B006": "begin with None, and make a new one inside",
    **dict.fromkeys(ZONELESS, "give it a zone, as in datetime.now(UTC)"),
    "use-isnan": "ask Number.isNaN()",
    "radix": "give it the base 10, or use Number()",
    "T201": "remove it, or log it",
    "no-console": "remove it, or log it",
    "no-explicit-any": "give it the type it has",
}
_BESIDE = ("package.json", "tsconfig.json", "jsconfig.json", "tsconfig.base.json", "tsconfig.app.json")
"""What says how modules are named."""
AROUND = 30
"""Lines of a function that are read above a finding."""
_PASSWORD = re.compile(r"passw(?:or)?d|passphrase|\bpwd\b|credential", re.IGNORECASE)
_ZONED = re.compile(r"\b(?:UTC|timezone\.utc|ZoneInfo|pytz|tzinfo\s*=)\b|\bimport (?:zoneinfo|pytz)\b")
_ENTRY = re.compile(
    r"__name__ == ['\"]__main__['\"]|^#!|^\s*(?:import|from) (?:argparse|click|typer|fire)\b", re.MULTILINE
)
_ENTRY_PATH = re.compile(
    r"(?:^|/)(?:__main__|manage|setup|cli|main)\.py$|(?:^|/)(?:cli|commands?|bin)/|(?:^|/)cli\.[cm]?[jt]s$"
)


class Linters:
    def __init__(self, trees: TrackTrees) -> None:
        self._toolbox = trees.toolbox
        self._settings = {name: trees.settings(name) for name in ("ruff", "oxlint")}
        self._found: dict[tuple[str, Path], list[tuple[str, TrackDefect]]] = {}

    def looks(self, pass_name: str) -> tuple[Look, ...]:
        tools = (("ruff", RUFF), ("oxlint", OXLINT))
        return tuple(partial(self._look, tool, rules[pass_name]) for tool, rules in tools if pass_name in rules)

    def _look(self, tool: str, rules: Collection[str], tree: SourceTree) -> list[TrackDefect]:
        if (tool, tree.root) not in self._found:
            self._found[tool, tree.root] = list((self._run_ruff if tool == "ruff" else self._run_oxlint)(tree))
        is_excused = _Excuses(tree)
        found = self._found[tool, tree.root]
        return [defect for name, defect in found if name in rules and not is_excused(name, defect)]

    def _run_ruff(self, tree: SourceTree) -> Iterator[tuple[str, TrackDefect]]:
        options = ("check", "--no-cache", "--ignore-noqa", "--exit-zero", "--output-format", "json")
        settings = self._settings["ruff"]
        codes = ",".join(code for some in RUFF.values() for code in some if code not in TYPES)
        version = re.search(r"requires-python\s*=\s*['\"][^'\"]*3\.(\d+)", tree.text("pyproject.toml"))
        target = f"py3{min(max(int(version[1]), 7), 14)}" if version else "py313"
        known: tuple[str, ...] = ("--isolated", "--target-version", target, "--select", codes)
        if settings is not None:
            known = ("--force-exclude", "--config", str(settings))
        files = tree.of(*PYTHON)
        for start in range(0, len(files), AT_ONCE):
            some = files[start : start + AT_ONCE]
            raw = self._toolbox.run("ruff", [*options, *known, "--", *some], cwd=tree.root)
            yield from (_of_ruff(tree, each) for each in self._toolbox.json("ruff", raw) if each["code"])

    def _run_oxlint(self, tree: SourceTree) -> Iterator[tuple[str, TrackDefect]]:
        files = [path for path in tree.of(*SCRIPTS) if tree.text(path)]
        if not files:
            return
        settings = self._settings["oxlint"]
        if settings is None:
            settings = self._toolbox.folder("oxlint-settings") / "oxlintrc.json"
            settings.write_bytes(msgspec.json.encode(_SETTINGS))
        options = ("-c", str(settings), "--disable-nested-config", "--no-ignore", "--format", "json")
        # One call: the linter looks for cycles among the files it is given.
        laid_out = self._toolbox.folder("oxlint-tree")
        tree.copy_to(laid_out, (*files, *(each for each in tree.files if each.endswith(_BESIDE))))
        said = self._toolbox.json("oxlint", self._toolbox.run("oxlint", [*options, *files], cwd=laid_out))
        yield from filter(None, (_of_oxlint(tree, each) for each in said["diagnostics"]))


def _of_ruff(tree: SourceTree, said: dict[str, Any]) -> tuple[str, TrackDefect]:
    path = said["filename"].removeprefix(f"{tree.root.resolve()}/").removeprefix(f"{tree.root}/")
    code, line, last = said["code"], said["location"]["row"], said["end_location"]["row"]
    if code == "ERA001":
        # The whole comment a line belongs to is one piece of code.
        last = line
        while tree.line(path, line - 1).lstrip().startswith("#"):
            line -= 1
        while tree.line(path, last + 1).lstrip().startswith("#"):
            last += 1
    return code, tree.defect(code, said["message"], path, line, end_line=last, action=_ACTIONS.get(code, ""))


def _of_oxlint(tree: SourceTree, said: dict[str, Any]) -> tuple[str, TrackDefect] | None:
    labels = said.get("labels") or []
    found = re.fullmatch(r"([\w-]+)\(([\w/-]+)\)", said.get("code") or "")
    if not labels or not found:
        return None
    text = said["message"]
    plugin, rule = found[1].removeprefix("eslint-plugin-"), found[2]
    imported = rule == "no-unused-vars" and "is imported" in text
    spoken = plugin == "jsx-a11y" and rule not in OXLINT["copy"]
    name = plugin if spoken else UNUSED_IMPORT if imported else rule
    shown = f"jsx-a11y/{rule}" if plugin == "jsx-a11y" else rule
    path, line = said["filename"].removeprefix("./"), int(labels[0]["span"]["line"])
    return name, tree.defect(shown, text, path, line, action=_ACTIONS.get(rule, ""))


class _Excuses:
    """What a linter reports and nobody should have to change, by rule; and what is about the product only."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._by_rule: dict[str, Callable[[TrackDefect], bool]] = {
            **dict.fromkeys(("T201", "T203", "no-console"), self._talks),
            "ERA001": self._is_prose,
            "F401": lambda defect: defect.file.endswith("__init__.py"),
            # The language gives these their signature.
            "ANN401": lambda defect: bool(re.search(r"`__\w+__`", defect.message)),
            "S324": self._is_no_password,
            **dict.fromkeys(ZONELESS, self._knows_no_zones),
        }

    def __call__(self, name: str, defect: TrackDefect) -> bool:
        aside = name not in IN_TESTS_TOO and not is_product(defect.file)
        return aside or (name in self._by_rule and self._by_rule[name](defect))

    def _talks(self, defect: TrackDefect) -> bool:
        return "file=sys.stderr" in defect.text or defect.file in entry_files(self._tree)

    def _is_prose(self, defect: TrackDefect) -> bool:
        lines = self._tree.text(defect.file).split("\n")[defect.line - 1 : max(defect.line, defect.end_line)]
        return not is_commented_python(lines)

    def _knows_no_zones(self, _: TrackDefect) -> bool:
        """Times without a zone may meet only where others have one."""
        return not any(_ZONED.search(self._tree.text(path)) for path in self._tree.of(*PYTHON))

    def _is_no_password(self, defect: TrackDefect) -> bool:
        """A quick hash is right for a checksum; the function around it says what is hashed."""
        lines = self._tree.text(defect.file).split("\n")
        first = defect.line - 1
        while first > 0 and not re.match(r"\s*(?:async )?def ", lines[first]) and defect.line - first < AROUND:
            first -= 1
        return not _PASSWORD.search("\n".join(lines[first : max(defect.line, defect.end_line)]))


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
