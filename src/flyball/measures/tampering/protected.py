"""Which paths a candidate may not change, what is measured in their place, and what was tried."""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath
from posixpath import normpath

import msgspec
from msgspec.structs import replace

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Remark, Trick
from flyball.core.model.task import Commit, Item, Settings
from flyball.core.text.requests import changes_tests, subjects, words_of_names
from flyball.measures.sources import is_code, is_program, is_test_file, looks_like_test, text_of
from flyball.measures.tampering.clones import lost_in_a_clone
from flyball.measures.tampering.gate_parts import is_named_after
from flyball.measures.tampering.gate_scripts import is_gate_file, makings
from flyball.measures.tampering.growth import gains_inputs, only_grows
from flyball.measures.tampering.plugins import plugin_files
from flyball.measures.tampering.sections import is_sectioned, restore
from flyball.measures.tampering.shadows import is_shadow
from flyball.measures.tampering.tests_by_report import Held, UnnamedTests
from flyball.measures.tampering.weakening import changed_parts, may_become
from flyball.ports import Trees

_CONFIGURATION = re.compile(
    # Runners, and what builds for them.
    r"conftest\.py|\.?pytest\.(ini|toml)|noxfile\.py|\.coveragerc|tox\.toml|\.s?testr\.conf|\.rspec|\.nycrc.*|\.?codecov\.yml"
    r"|flyball\.toml|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.cjs|bunfig\.toml|\.bazelrc"
    r"|(jest|vitest|vite|cypress|playwright|babel|ava|wdio)\.(config|setup|workspace)\..*|\.babelrc.*|\.swcrc|\.mocharc.*|karma\.conf\..*"
    r"|phpunit\.xml(\.dist)?|\.c8rc.*|nyc\.config\..*|(nose2|unittest)\.cfg|\.?behave(rc|\.ini)|nextest\.toml"
    # Linters, type checkers and formatters.
    r"|\.?ruff\.toml|\.flake8|\.?pylintrc(\.toml)?|\.?mypy\.ini|pyrightconfig\.json|\.bandit|\.pre-commit-config\.yaml|\.isort\.cfg"
    r"|\.eslintrc.*|eslint\.config\..*|\.(eslint|prettier|stylelint)ignore|\.prettierrc.*|prettier\.config\..*|\.stylelintrc.*"
    r"|biome\.jsonc?|\.?oxlintrc\.json|\.golangci\.(ya?ml|toml|json)|\.rubocop(_todo)?\.yml|\.?clippy\.toml|phpstan\.neon(\.dist)?|psalm\.xml"
    r"|tsconfig\.(test|tests|spec|unit|e2e|jest|vitest|lint|eslint)\w*\.json|\.(rg)?ignore|\.markdownlint.*|\.yamllint.*|\.shellcheckrc",
    re.IGNORECASE,
)
"""The one table of what configures the runners and linters of known ecosystems, whole files of it; `sections` has the parts."""
_CI = re.compile(
    r"\.gitlab-ci\.yml|Jenkinsfile|azure-pipelines.*|\.travis\.yml|bitbucket-pipelines\.yml|\.?appveyor\.yml"
)
_CI_FOLDERS = (".github/workflows/", ".github/actions/", ".circleci/", ".ci/", ".buildkite/", ".gitlab/ci/")
_RUNNER_FOLDERS = (".cargo/", ".mvn/")
_ENTRY_POINTS = re.compile(r"(.*/)?(setup\.py|[^/]+\.(dist|egg)-info/entry_points\.txt)", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:re)?(?:writ|add|creat|extend|chang|updat|fix|set up|configur|remov|delet|renam|mov|replac|migrat|split|merg"
    r"|generat|fresh|record|bring)\w*",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"\b(?:not|never|without|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:!?](?=\s)|\n|\bbut\b")
_SNAPSHOT = re.compile(
    r"(?:.*/)?__snapshots__/.*|.*\.(?:snap|ambr|golden|approved|expected)(?:\.\w+)?|.*/(?:golden|goldens|snapshots?|expected|data|fixtures)/.*"
)
_SNAPSHOTS = re.compile(
    r"\bsnapshots?\b|\bgolden (?:files?|masters?|outputs?|data)\b|\bgoldens\b|\b(?:expected|approved) (?:outputs?|files?)\b",
    re.IGNORECASE,
)
"""What a request calls the files that hold what tests expect."""
_ABOUT_TESTS = re.compile(r"pytest|coverage|jest|vitest|mocha|\btox\b|\btests?\b", re.IGNORECASE)


SHADOWS = "it has the name of a module of Python's own or of the environment, and may be imported in its place"


class Protection(msgspec.Struct, frozen=True):
    """What is laid over the candidate (None removes), files written with accepted sections, and what is said of each.

    `released` paths are the candidate's own: their tests are no longer those that were accepted. `put_back` are the protected
    paths that were changed, with where each comes from: the next turn works in a tree that has them as accepted. `restored` says how each
    was changed, which proves nothing by itself; `tricks` would be measured otherwise in a clone. `suspects` are new files that stay in
    the candidate, and may change what a runner does. `scripts` are the gates' own, and `grown` are those and the tests that only ask for more.
    """

    overlay: dict[str, Commit | None]
    rewritten: dict[str, bytes]
    released: frozenset[str]
    tricks: tuple[Trick, ...]
    notes: tuple[str, ...]
    put_back: dict[str, Commit | None] = {}
    remarks: tuple[Remark, ...] = ()
    restored: tuple[Trick, ...] = ()
    suspects: tuple[str, ...] = ()
    scripts: frozenset[str] = frozenset()
    grown: tuple[str, ...] = ()


def is_ci(path: str) -> bool:
    return path.startswith(_CI_FOLDERS) or bool(_CI.fullmatch(PurePosixPath(path).name))


def is_configuration(path: str, settings: Settings) -> bool:
    """Whether a path is test or CI configuration as a whole, or what the gate commands are made of."""
    return _is_fixed(path, settings) or is_gate_file(path, _gates(settings), settings.lint)


def _is_fixed(path: str, settings: Settings) -> bool:
    """Whether a path is protected by its own name, or by a person's word."""
    name = PurePosixPath(path).name
    if is_ci(path) or path.startswith(_RUNNER_FOLDERS) or _CONFIGURATION.fullmatch(name):
        return True
    if "__mocks__" in PurePosixPath(path).parts[:-1]:
        return True
    for pattern in settings.protected:
        if path == pattern or fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/*") + "/"):
            return True
    return False


def _gates(settings: Settings) -> str:
    return " ; ".join(gate.command for gate in settings.gates)


def _commands(settings: Settings) -> str:
    return f"{_gates(settings)} ; {settings.lint}"


def exempt(path: str, items: Iterable[Item]) -> bool:
    """Whether an item asks for a change of the path by its name, or for CI where the path is CI configuration."""
    names = (path, PurePosixPath(path).name)
    for item in items:
        text = " ".join((item.text, *item.acceptance))
        named = path in item.files or any(name in text and _is_wanted(_whole_name(name), text) for name in names)
        asked = path in item.files or _ASKED.search(text) is not None
        if named and asked and (not is_sectioned(path) or _ABOUT_TESTS.search(text)):
            return True
        if _SNAPSHOT.fullmatch(path) and looks_like_test(path) and asked and _is_wanted(_SNAPSHOTS, text):
            return True
        if is_ci(path) and asked and re.search(r"\bCI\b|continuous integration|\bpipeline\b|\bworkflow file", text):
            return True
    return False


def _whole_name(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])")


def _is_wanted(what: re.Pattern[str], text: str) -> bool:
    """Whether a text names something other than to say that it is not to be changed."""
    return any(not _REFUSED.search(_CLAUSE.split(text[: match.start()])[-1]) for match in what.finditer(text))


class _Sides(msgspec.Struct, frozen=True):
    """The files of the accepted and of the candidate tree, what differs, and what gates start or load; `linked` leads from files to the links by which they are tests."""

    accepted: frozenset[str]
    candidate: frozenset[str]
    written: frozenset[str]
    changed: tuple[str, ...]
    scripts: frozenset[str]
    programs: frozenset[str]
    plugins: frozenset[str]
    installed: frozenset[str]
    unnamed: UnnamedTests
    linked: Mapping[str, str]


def protect(
    request: Measure,
    settings: Settings,
    workspace: Trees,
    held: Held | None = None,
    installed: Callable[[str], frozenset[str]] = lambda _commands: frozenset(),
) -> Protection:
    """Compare the candidate with what was accepted and say what must be measured instead of it.

    `held` says which files hold accepted tests, as far as reports told, `installed` which modules the environment has for commands.
    """
    sides = _sides(request, settings, workspace, held or {}, installed)
    overlay: dict[str, Commit | None] = {}
    put_back: dict[str, Commit | None] = {}
    rewritten: dict[str, bytes] = {}
    tricks: list[Trick] = []
    restored: list[Trick] = []
    notes: list[str] = []
    released: set[str] = set()
    for path in sides.changed:
        was = request.accepted if path in sides.accepted else None
        if any(path == folder or path.startswith(f"{folder}/") for folder in request.kept):
            overlay[path] = was
            kept = "that file" if path in request.kept else "that folder"
            notes.append(f"{path} stays as it was: the agent's change of it was discarded, since flyball keeps {kept}")
        elif path in request.consented:
            released.add(path)
            notes.append(f"{path} is taken from the candidate: the change was consented to")
        elif lost := lost_in_a_clone(path, request.candidate, workspace):
            tricks.append(lost)
            overlay[path] = put_back[path] = was
        elif path not in sides.written and exempt(path, request.asked):
            released.add(path)
            notes.append(f"{path} is exempt from protection: the task itself names it")
        elif path not in sides.written and any(fnmatchcase(path, pattern) for pattern in settings.may_change):
            released.add(path)
            notes.append(f"{path} may change: a person said so (may_change)")
        elif path not in sides.written and _are_changes_wanted(path, request, workspace):
            released.add(path)
            notes.append(f"{path} is taken from the candidate: the request asks for changes of its tests")
        elif is_sectioned(path):
            content, changed = _restore_sections(path, request, settings, workspace)
            rewritten.update(content)
            restored += changed
        elif found := _changes_of(path, request, settings, workspace, sides):
            restored += found
            overlay[path] = put_back[path] = was
    shadows = [path for path in sides.changed if path not in overlay and _is_new_shadow(path, sides)]
    aids = [path for path in sides.changed if path not in overlay and _is_new_aid(path, sides)]
    taken = [path for path in sides.changed if path in sides.accepted and path not in {*overlay, *released}]
    grown = tuple(path for path in taken if path in sides.scripts or looks_like_test(path))
    return Protection(
        overlay,
        rewritten,
        frozenset(released),
        tuple(tricks),
        tuple(notes),
        put_back,
        tuple(Remark(path, 0, SHADOWS) for path in shadows),
        tuple(replace(change, harmless=True) for change in restored),
        tuple(dict.fromkeys((*shadows, *aids))),
        sides.scripts,
        grown,
    )


def _are_changes_wanted(path: str, request: Measure, workspace: Trees) -> bool:
    """Whether the request says that tests change, and each test that did is about something it names."""
    text = "\n".join(item.text for item in request.asked)
    before, after = _versions(path, request, workspace)
    if before is None or not looks_like_test(path) or not is_code(path) or not changes_tests(text):
        return False
    wanted = subjects(text)
    parts = changed_parts(path, before, after)
    return all(wanted & words_of_names(test) for test in parts) or (
        after is None and _is_moved(path, before, request, workspace)
    )


def _is_moved(path: str, before: bytes, request: Measure, workspace: Trees) -> bool:
    """Whether all tests of a file that is gone are in one of the same name elsewhere."""
    files = (
        file for file in workspace.list_files(request.candidate) if PurePosixPath(file).name == PurePosixPath(path).name
    )
    sources = (workspace.read_file(request.candidate, file) for file in files)
    return any(
        source == before or (path.endswith(".py") and not changed_parts(path, before, source)) for source in sources
    )


def _restore_sections(
    path: str, request: Measure, settings: Settings, workspace: Trees
) -> tuple[dict[str, bytes], tuple[Trick, ...]]:
    before, after = _versions(path, request, workspace)
    restored = restore(path, before, after or b"", _commands(settings))
    if restored is None:
        return {}, ()
    message = _with_first_change(f"of its test sections {', '.join(restored.changed)} was", before or b"", after)
    return {path: restored.content}, (Trick("test-config-changed", path, message),)


def _sides(
    request: Measure, settings: Settings, workspace: Trees, held: Held, installed: Callable[[str], frozenset[str]]
) -> _Sides:
    accepted = frozenset(workspace.list_files(request.accepted))
    candidate = frozenset(workspace.list_files(request.candidate))
    read = partial(workspace.read_file, request.accepted)
    made_of = makings(_gates(settings), accepted, read, settings.lint)
    changed = changed_paths(workspace, request.accepted, request.candidate)
    written = frozenset(changed_paths(workspace, request.base, request.accepted))
    plugins: frozenset[str] = frozenset()
    if any(path.endswith(".py") for path in changed):
        plugins = plugin_files(_gates(settings), made_of.files, accepted | candidate, read)
    modules: frozenset[str] = frozenset()
    if any(path.casefold().endswith(".py") for path in candidate - accepted):
        modules = installed(_commands(settings))
    return _Sides(
        accepted,
        candidate,
        written,
        changed,
        made_of.files,
        made_of.programs,
        plugins,
        modules,
        UnnamedTests(commands=_gates(settings), held=held, files=accepted, plugins=plugins, written=written, read=read),
        _linked_tests(request.accepted, workspace),
    )


def _linked_tests(commit: Commit, workspace: Trees) -> dict[str, str]:
    links = [link for link in workspace.links(commit) if looks_like_test(link) or looks_like_test(f"{link}/x")]
    targets = {link: text_of(workspace.read_file(commit, link)) for link in links}
    return {normpath(f"{PurePosixPath(link).parent}/{target}"): link for link, target in targets.items()}


def _name_as_test(path: str, sides: _Sides) -> str:
    """The path by which tests reach a file: its own, or one behind a link."""
    for target, link in sides.linked.items():
        if path == target or path.startswith(f"{target}/"):
            return link + path.removeprefix(target)
    return path


def changed_paths(workspace: Trees, old: Commit, new: Commit) -> tuple[str, ...]:
    return tuple(sorted({path for _, path in workspace.changed_files(old, new)})) if old != new else ()


def _changes_of(path: str, request: Measure, settings: Settings, workspace: Trees, sides: _Sides) -> tuple[Trick, ...]:
    """How one protected path was changed; empty when the path is not protected."""
    if _is_new_aid(path, sides):
        return ()
    if any(path == prompt.path for prompt in settings.prompts.values()):
        # Its words are left out: who reads of the change must not be addressed by what was written there.
        return (
            Trick(
                "test-config-changed",
                path,
                f"a prompt of this project was {_how(*_versions(path, request, workspace))}",
            ),
        )
    gates_own = path in sides.scripts or is_named_after(path, sides.programs)
    if gates_own or is_configuration(path, settings) or _is_plugin(path, sides):
        before, after = _versions(path, request, workspace)
        if path in sides.scripts and gains_inputs(text_of(before), text_of(after)):
            return ()
        may_grow = request.tests_may_grow and path in sides.scripts and not _is_fixed(path, settings)
        if may_grow and is_program(path, before) and only_grows(text_of(before), text_of(after)):
            return ()
        message = _with_first_change("test or CI configuration was", before, after)
        return (Trick("test-config-changed", path, message),)
    if _ENTRY_POINTS.fullmatch(path):
        before, after = _versions(path, request, workspace)
        if b"pytest11" in (after or b"") and b"pytest11" not in (before or b""):
            return (Trick("test-config-changed", path, "it now registers a plugin of the test runner"),)
    if path not in sides.accepted:
        inside = any(part in settings.environment_folders for part in PurePosixPath(path).parts[:-1])
        message = "a new file lies inside a folder of installed dependencies"
        return (Trick("environment-changed", path, message),) if inside else ()
    before, after = _versions(path, request, workspace)
    free = may_become if is_test_file(_name_as_test(path, sides), before, after) else sides.unnamed.may_become
    if free(path, before, after, rewritable=request.kind == "red", tests_may_grow=request.tests_may_grow):
        return ()
    message = _with_first_change("what accepted tests ask for was", before, after)
    return (Trick("protected-changed" if after is not None else "test-deleted", path, message),)


def _is_plugin(path: str, sides: _Sides) -> bool:
    """Whether the runner loads a file as a plugin; an accepted one among the tests is compared as they are."""
    return path in sides.plugins and not (path in sides.accepted and looks_like_test(path))


def _versions(path: str, request: Measure, workspace: Trees) -> tuple[bytes | None, bytes | None]:
    return workspace.read_file(request.accepted, path), workspace.read_file(request.candidate, path)


def _is_new_aid(path: str, sides: _Sides) -> bool:
    """Whether a new file is loaded with the tests: fixtures belong there. What it does to accepted tests is measured."""
    return path not in sides.accepted and (PurePosixPath(path).name == "conftest.py" or path in sides.plugins)


def _is_new_shadow(path: str, sides: _Sides) -> bool:
    return path not in sides.accepted and is_shadow(path, sides.candidate, sides.installed)


def _how(before: bytes | None, after: bytes | None) -> str:
    return "added" if before is None else "deleted" if after is None else "changed"


def _with_first_change(what: str, before: bytes | None, after: bytes | None) -> str:
    """How a file was changed, with the first line that is new, or else the first that is gone."""
    how = _how(before, after)
    old, new = (dict.fromkeys(line.strip()[:120] for line in text_of(each).splitlines()) for each in (before, after))
    changes = (*(line for line in new if line not in old), *(f"without {line}" for line in old if line not in new))
    line = next(iter(changes), "") if after is not None else ""
    return f"{what} {how}: {line}" if line else f"{what} {how}"
