"""The eleven QA criteria (C50): seven block, four warn; what cannot be verified is `n/a`, never passed."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Check, Quality
from flyball.core.model.task import Settings
from flyball.core.text.quantities import first_few, plural
from flyball.measures.quality.complexity import ChangedCode, excesses
from flyball.measures.quality.documents import is_changelog, is_decision_record, is_readme
from flyball.measures.quality.lint import LintRun
from flyball.measures.sources import Defined, looks_like_test, names_item, parse, source_tests, text_of, top_names
from flyball.measures.tampering.protected import changed_paths
from flyball.ports import Trees

BLOCKING = frozenset(
    {"tests_pass", "criteria_covered", "lint_clean", "complexity", "readme", "decision_record", "changelog"}
)
OF_DOCUMENTS = ("readme", "decision_record", "changelog")
DUPLICATION = 5.0
COMMENTED_ABOVE = 5
_STEM = 5
"""Letters of a word that a README and a criterion must have in common: "multiply" is what "multiplies" asks for."""
_SNAKE = re.compile(r"_{0,2}[a-z0-9]+(?:_[a-z0-9]+)*_{0,2}|_+")
_CAMEL = re.compile(r"_{0,2}[A-Z][A-Za-z0-9]*")
_ANY_CASE = re.compile(r"(?:setUp|tearDown|visit_|do_|async[A-Z]|assert[A-Z]|run[A-Z]|max[A-Z]|id$|short[A-Z])")
_COMMON = re.compile(
    r"that|this|with|from|when|then|must|should|shall|have|into|each|which|their|there|these|those|than|them|they|will"
    r"|returns?|given|functions?|methods?|class|values?|numbers?|strings?|errors?|tests?"
)

Verdict = tuple[bool | None, str]


class Evidence(msgspec.Struct, frozen=True):
    request: Measure
    settings: Settings
    workspace: Trees
    code: ChangedCode
    quality: Quality
    tests: Verdict
    lint: LintRun | None
    reported: Mapping[str, Collection[str]] = {}

    @property
    def changed(self) -> tuple[str, ...]:
        return changed_paths(self.workspace, self.request.base, self.request.candidate)


def checks(given: Evidence, only: Collection[str] = ()) -> tuple[Check, ...]:
    """All eleven, in the order of their settings, or `only` some."""
    found = []
    for name, look in _LOOKS.items():
        if only and name not in only:
            continue
        off = getattr(given.settings.qa, name) == "off"
        verdict, detail = (None, "switched off: not verified") if off else look(given)
        found.append(Check(name, "n/a" if verdict is None else "pass" if verdict else "fail", name in BLOCKING, detail))
    return tuple(found)


def _criteria_covered(given: Evidence) -> Verdict:
    items = given.request.items
    if not items:
        return None, "the task has no criteria"
    words = list(_words_of_tests(given))
    uncovered = [item.id for item in items if not any(names_item(text, item) for text in words)]
    if len(items) == 1 and words and not given.request.midway:
        uncovered = []
    if uncovered:
        which = "no test" if given.request.midway else "no test added or changed since the task began"
        return False, f"{which} names {', '.join(uncovered)}"
    return True, plural(len(items), "criterion has a test", "criteria have a test")


def _words_of_tests(given: Evidence) -> Iterable[str]:
    paths = given.workspace.list_files(given.request.candidate) if given.request.midway else given.changed
    for path in paths:
        # The runner's report says what holds tests, whatever the project calls its files and functions.
        yield from given.reported.get(path, ())
        named = looks_like_test(path) or path in given.reported
        source = given.workspace.read_file(given.request.candidate, path) if named else None
        if source is None:
            continue
        if path.endswith(".py"):
            yield from (test.words for test in source_tests(source, path) or ())
        else:
            yield f"{path}\n{text_of(source)}"


def _lint_clean(given: Evidence) -> Verdict:
    if given.lint is None:
        return None, "no lint command is configured"
    return given.lint.clean is True, given.lint.detail


def _complexity(given: Evidence) -> Verdict:
    if not given.code.sources:
        return None, given.quality.unmeasured or "no product code was changed"
    limits = given.settings.code
    functions = [f for f in given.code.changed if "complexity" in excesses(f, given.code, limits)]
    over = [f"{f.where} ({f.complexity})" for f in functions]
    if over:
        return False, f"complexity must be under {limits.complexity}: {first_few(over, 5)}"
    return True, f"the worst changed function has {given.quality.complexity_worst}"


def _readme(given: Evidence) -> Verdict:
    """A README names something the change added, or gained a line with a word of a criterion, whatever its ending."""
    candidate, base = given.request.candidate, given.request.base
    readmes = [path for path in given.workspace.list_files(candidate) if is_readme(path)]
    if not readmes:
        return None, "the project has no README: not verified"
    wanted = {name.lower() for name in _added_names(given)}
    said = {w for item in given.request.items for w in re.findall(r"[a-z_]{4,}", item.text.lower())}
    words = {word[:_STEM] for word in said if not _COMMON.fullmatch(word)}
    for path in readmes:
        text = text_of(given.workspace.read_file(candidate, path))
        before = set(text_of(given.workspace.read_file(base, path)).splitlines())
        added = "\n".join(line for line in text.splitlines() if line not in before).lower()
        stems = {word[:_STEM] for word in re.findall(r"[a-z_]{4,}", added)}
        if wanted & set(re.findall(r"\w+", text.lower())) or words & stems:
            return True, f"{path} mentions it"
    return False, f"{readmes[0]} does not mention the feature: name it there, and what it is for"


def _added_names(given: Evidence) -> set[str]:
    found: set[str] = set()
    for path, text in given.code.sources.items():
        if path.endswith(".py"):
            after = parse(text.encode())
            found |= top_names(after.body if after else []) - top_names(_before(given, path).body)
        else:
            found |= {function.name.rpartition(".")[2] for function in given.code.changed if function.file == path}
    return {name for name in found if len(name) > 2 and not name.startswith("_")}


def _decision_record(given: Evidence) -> Verdict:
    found = [path for path in _written_paths(given) if is_decision_record(path)]
    if found:
        return True, found[0]
    return False, "no decision record (*/decisions/* or ADR-*) was added or changed since the task began"


def _changelog(given: Evidence) -> Verdict:
    found = [path for path in _written_paths(given) if is_changelog(path)]
    if found:
        return True, found[0]
    if not any(is_changelog(path) for path in given.workspace.list_files(given.request.candidate)):
        return None, "the project has no changelog: not verified"
    return False, "the changelog was not changed since the task began"


def _written_paths(given: Evidence) -> list[str]:
    """Every path added or changed that is there and not empty."""
    return [p for p in given.changed if (given.workspace.read_file(given.request.candidate, p) or b"").strip()]


def _duplication(given: Evidence) -> Verdict:
    if not given.code.sources:
        return None, given.quality.unmeasured or "no product code was changed"
    percent = given.quality.duplication_percent
    detail = f"{percent:g} % of the changed files' lines are new duplicates (limit {DUPLICATION:g} %)"
    return percent < DUPLICATION, detail


def _naming(given: Evidence) -> Verdict:
    modules = _python(given)
    if not modules:
        return None, "no Python was changed; names of other languages are not checked"
    odd = [
        f"{path}:{line} {name}"
        for path, module in modules.items()
        for known in [{name for _, name in _odd_names(_before(given, path))}]
        for line, name in _odd_names(module)
        if name not in known
    ]
    if odd:
        return False, f"names that do not follow the language's custom: {first_few(odd, 5)}"
    return True, "names follow custom"


def _before(given: Evidence, path: str) -> ast.Module:
    return parse(given.workspace.read_file(given.request.base, path)) or ast.Module([], [])


def _odd_names(module: ast.Module) -> Iterable[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not _SNAKE.fullmatch(node.name) and not _ANY_CASE.match(node.name):
                yield node.lineno, node.name
        elif isinstance(node, ast.ClassDef) and not _CAMEL.fullmatch(node.name):
            yield node.lineno, node.name


def _api_documentation(given: Evidence) -> Verdict:
    modules = _python(given)
    if not modules:
        return None, "no Python was changed; documentation of other languages is not checked"
    touched = {(f.file, f.start) for f in given.code.changed}
    bare = []
    for path, module in modules.items():
        known = top_names(_before(given, path).body)
        public = [n for n in module.body if isinstance(n, Defined) and not n.name.startswith("_")]
        changed = [n for n in public if (path, n.lineno) in touched or n.name not in known]
        bare += [f"{path} {node.name}" for node in changed if not ast.get_docstring(node)]
    if bare:
        return False, f"public and changed, but without a docstring: {first_few(bare, 5)}"
    return True, "all documented"


def _comments(given: Evidence) -> Verdict:
    if not given.code.sources:
        return None, given.quality.unmeasured or "no product code was changed"
    complex_ones = [f for f in given.code.changed if f.complexity > COMMENTED_ABOVE]
    bare = [f.where for f in complex_ones if not re.search(r"#\s*\w|//|/\*|\"\"\"|'''", f.body)]
    if bare:
        return False, f"complexity above {COMMENTED_ABOVE} and not a word of explanation: {first_few(bare, 5)}"
    return True, f"{plural(len(complex_ones), 'function')} above {COMMENTED_ABOVE}, all explained"


def _python(given: Evidence) -> dict[str, ast.Module]:
    read = {path: parse(text.encode()) for path, text in given.code.sources.items() if path.endswith(".py")}
    return {path: module for path, module in read.items() if module is not None}


_LOOKS: dict[str, Callable[[Evidence], Verdict]] = {
    "tests_pass": lambda given: given.tests,
    "criteria_covered": _criteria_covered,
    "lint_clean": _lint_clean,
    "complexity": _complexity,
    "readme": _readme,
    "decision_record": _decision_record,
    "changelog": _changelog,
    "duplication": _duplication,
    "naming": _naming,
    "api_documentation": _api_documentation,
    "comments": _comments,
}
