"""Which paths a candidate may not change, what is measured in their place, and what was tried."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath
from posixpath import normpath

import msgspec
from msgspec.structs import replace

from flyball.core.model.effects import Measure
from flyball.core.model.measurement import Remark, Trick
from flyball.core.model.task import Commit, Item, Settings
from flyball.core.text.requests import (
    asks_for_change,
    asks_for_ci,
    changes_tests,
    is_wanted,
    subjects,
    tools_to_configure,
    words_of_names,
)
from flyball.measures.sources import is_code, is_program, is_test_file, looks_like_test, text_of
from flyball.measures.tampering.clones import lost_in_a_clone
from flyball.measures.tampering.gate_parts import is_named_after
from flyball.measures.tampering.gate_scripts import is_gate_file, makings
from flyball.measures.tampering.growth import gains_inputs, only_grows
from flyball.measures.tampering.installed_modules import is_shadow
from flyball.measures.tampering.plugins import plugin_files
from flyball.measures.tampering.sections import inline_tests, is_sectioned, restore, with_inline_tests
from flyball.measures.tampering.tests_by_report import Held, UnnamedTests
from flyball.measures.tampering.weakening import changed_parts, may_become, only_adds
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
    the candidate, and may change what a runner does. `scripts` are the gates' own, and `grown` are those, the tests and what these use, each with all that it had and more.
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
    commands = " ; ".join(gate.command for gate in settings.gates)
    return _is_fixed(path, settings) or is_gate_file(path, commands, settings.lint)


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


def exempt(path: str, items: Iterable[Item]) -> bool:
    """Whether an item asks for a change of the path by its name, or in words for one of what the path is: CI, settings of a tool, a snapshot."""
    names = (path, PurePosixPath(path).name)
    for item in items:
        text = " ".join((item.text, *item.acceptance))
        named = path in item.files or any(
            name in text and is_wanted(re.compile(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])"), text) for name in names
        )
        asked = path in item.files or asks_for_change(text)
        if named and asked and (not is_sectioned(path) or _ABOUT_TESTS.search(text)):
            return True
        if _SNAPSHOT.fullmatch(path) and looks_like_test(path) and asked and is_wanted(_SNAPSHOTS, text):
            return True
        if (is_ci(path) and asks_for_ci(text)) or is_named_after(path, tools_to_configure(text)):
            return True
    return False


class _Comparison:
    """An accepted and a candidate tree: what differs, what gates start or load, and what may change.

    `held` says which files hold accepted tests, as far as reports told, `installed` which modules the environment has for commands.
    """

    def __init__(
        self,
        request: Measure,
        settings: Settings,
        workspace: Trees,
        held: Held,
        installed: Callable[[str], frozenset[str]],
    ) -> None:
        self._request, self._settings, self._workspace = request, settings, workspace
        self._gates = " ; ".join(gate.command for gate in settings.gates)
        self.accepted = frozenset(workspace.list_files(request.accepted))
        self._candidate = frozenset(workspace.list_files(request.candidate))
        self.changed = changed_paths(workspace, request.accepted, request.candidate)
        self.written = frozenset(changed_paths(workspace, request.base, request.accepted))
        read = partial(workspace.read_file, request.accepted)
        made_of = makings(self._gates, self.accepted, read, settings.lint)
        self.scripts, self._programs = made_of.files, made_of.programs
        self._plugins: frozenset[str] = frozenset()
        if any(path.endswith(".py") for path in self.changed):
            self._plugins = plugin_files(self._gates, made_of.files, self.accepted | self._candidate, read)
        self._installed: frozenset[str] = frozenset()
        if any(path.casefold().endswith(".py") for path in self._candidate - self.accepted):
            self._installed = installed(self._commands)
        self._unnamed = UnnamedTests(
            commands=self._gates,
            held=held,
            files=self.accepted,
            plugins=self._plugins,
            written=self.written,
            read=read,
        )
        links = [
            link for link in workspace.links(request.accepted) if looks_like_test(link) or looks_like_test(f"{link}/x")
        ]
        # The links by which files are tests, by what they lead to.
        self._linked = {normpath(f"{PurePosixPath(link).parent}/{text_of(read(link))}"): link for link in links}

    @property
    def _commands(self) -> str:
        return f"{self._gates} ; {self._settings.lint}"

    def _versions(self, path: str) -> tuple[bytes | None, bytes | None]:
        read = self._workspace.read_file
        return read(self._request.accepted, path), read(self._request.candidate, path)

    def why_released(self, path: str) -> str:
        """Why the candidate's version of a path is taken, or an empty string; what the task wrote itself stays as accepted."""
        if path in self._request.consented:
            return f"{path} is taken from the candidate: the change was consented to"
        if path in self.written:
            return ""
        if exempt(path, self._request.asked):
            return f"{path} is exempt from protection: the task itself names it"
        if any(fnmatchcase(path, pattern) for pattern in self._settings.may_change):
            return f"{path} may change: a person said so (may_change)"
        if self._are_changes_wanted(path):
            return f"{path} is taken from the candidate: the request asks for changes of its tests"
        return ""

    def _are_changes_wanted(self, path: str) -> bool:
        """Whether the request says that tests change, and each test that did is about something it names."""
        text = "\n".join(item.text for item in self._request.asked)
        before, after = self._versions(path)
        if before is None or not looks_like_test(path) or not is_code(path) or not changes_tests(text):
            return False
        wanted = subjects(text)
        about = all(wanted & words_of_names(test) for test in changed_parts(path, before, after))
        return about or (after is None and self._is_moved(path, before))

    def _is_moved(self, path: str, before: bytes) -> bool:
        """Whether all tests of a file that is gone are in one of the same name elsewhere."""
        name = PurePosixPath(path).name
        sources = (self._versions(file)[1] for file in self._candidate if PurePosixPath(file).name == name)
        return any(
            source == before or (path.endswith(".py") and not changed_parts(path, before, source)) for source in sources
        )

    def restored_sections(self, path: str) -> tuple[dict[str, bytes], tuple[Trick, ...]]:
        """A manifest's sections, or the tests within a product's source, as they were accepted, and how they were changed."""
        before, after = self._versions(path)
        if not is_sectioned(path):
            old, new = (inline_tests(path, text_of(each)) for each in (before, after))
            if not old or after is None or only_grows(old, new):
                return {}, ()
            content = with_inline_tests(path, text_of(after), old).encode()
            message = _with_first_change("what accepted tests ask for was", old.encode(), new.encode())
            return {path: content}, (Trick("protected-changed", path, message),)
        wanted = frozenset(tool for item in self._request.asked for tool in tools_to_configure(item.text))
        restored = restore(path, before, after or b"", self._commands, wanted)
        if restored is None:
            return {}, ()
        message = _with_first_change(f"of its test sections {', '.join(restored.changed)} was", before, after)
        return {path: restored.content}, (Trick("test-config-changed", path, message),)

    def change_of(self, path: str) -> Trick | None:
        """How one protected path was changed; None when the path is not protected."""
        if self.is_new_aid(path):
            return None
        before, after = self._versions(path)
        if any(path == prompt.path for prompt in self._settings.prompts.values()):
            # Its words are left out: who reads of the change must not be addressed by what was written there.
            return Trick("test-config-changed", path, f"a prompt of this project was {_how(before, after)}")
        if self._is_configuration(path):
            if self._only_grows(path, before, after):
                return None
            return Trick("test-config-changed", path, _with_first_change("test or CI configuration was", before, after))
        if _ENTRY_POINTS.fullmatch(path) and b"pytest11" in (after or b"") and b"pytest11" not in (before or b""):
            return Trick("test-config-changed", path, "it now registers a plugin of the test runner")
        if path not in self.accepted:
            inside = any(part in self._settings.environment_folders for part in PurePosixPath(path).parts[:-1])
            message = "a new file lies inside a folder of installed dependencies"
            return Trick("environment-changed", path, message) if inside else None
        free = may_become if is_test_file(self._name_as_test(path), before, after) else self._unnamed.may_become
        request = self._request
        if free(path, before, after, rewritable=request.kind == "red", tests_may_grow=request.tests_may_grow):
            return None
        message = _with_first_change("what accepted tests ask for was", before, after)
        return Trick("protected-changed" if after is not None else "test-deleted", path, message)

    def _is_configuration(self, path: str) -> bool:
        if path in self.scripts or is_named_after(path, self._programs) or is_configuration(path, self._settings):
            return True
        # An accepted plugin among the tests is compared as they are.
        return path in self._plugins and not (path in self.accepted and looks_like_test(path))

    def _only_grows(self, path: str, accepted: bytes | None, candidate: bytes | None) -> bool:
        before, after = text_of(accepted), text_of(candidate)
        if path in self.scripts and gains_inputs(before, after):
            return True
        if PurePosixPath(path).name == "conftest.py":
            may_grow = self._request.tests_may_grow or self._request.kind == "red"
            return may_grow and only_adds(path, accepted, candidate)
        may_grow = self._request.tests_may_grow and path in self.scripts and not _is_fixed(path, self._settings)
        return may_grow and is_program(path, accepted) and only_grows(before, after)

    def _name_as_test(self, path: str) -> str:
        """The path by which tests reach a file: its own, or one behind a link."""
        for target, link in self._linked.items():
            if path == target or path.startswith(f"{target}/"):
                return link + path.removeprefix(target)
        return path

    def is_new_aid(self, path: str) -> bool:
        """Whether a new file is loaded with the tests: fixtures belong there. What it does to accepted tests is measured."""
        return path not in self.accepted and self.is_aid(path)

    def is_aid(self, path: str) -> bool:
        return PurePosixPath(path).name == "conftest.py" or path in self._plugins

    def is_new_shadow(self, path: str) -> bool:
        return path not in self.accepted and is_shadow(path, self._candidate, self._installed)


def protect(
    request: Measure,
    settings: Settings,
    workspace: Trees,
    held: Held | None = None,
    installed: Callable[[str], frozenset[str]] = lambda _commands: frozenset(),
) -> Protection:
    """Compare the candidate with what was accepted and say what must be measured instead of it."""
    trees = _Comparison(request, settings, workspace, held or {}, installed)
    overlay: dict[str, Commit | None] = {}
    put_back: dict[str, Commit | None] = {}
    rewritten: dict[str, bytes] = {}
    tricks: list[Trick] = []
    restored: list[Trick] = []
    notes: list[str] = []
    released: set[str] = set()
    for path in trees.changed:
        was = request.accepted if path in trees.accepted else None
        if any(path == folder or path.startswith(f"{folder}/") for folder in request.kept):
            overlay[path] = was
            kept = "that file" if path in request.kept else "that folder"
            notes.append(f"{path} stays as it was: the agent's change of it was discarded, since flyball keeps {kept}")
        elif path not in request.consented and (lost := lost_in_a_clone(path, request.candidate, workspace)):
            tricks.append(lost)
            overlay[path] = put_back[path] = was
        elif why := trees.why_released(path):
            released.add(path)
            notes.append(why)
        elif not is_sectioned(path) and (found := trees.change_of(path)):
            restored.append(found)
            overlay[path] = put_back[path] = was
        else:
            content, changed = trees.restored_sections(path)
            rewritten.update(content)
            restored += changed
    shadows = [path for path in trees.changed if path not in overlay and trees.is_new_shadow(path)]
    aids = [path for path in trees.changed if path not in overlay and trees.is_new_aid(path)]
    taken = [path for path in trees.changed if path in trees.accepted and path not in {*overlay, *released}]
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
        trees.scripts,
        tuple(path for path in taken if path in trees.scripts or looks_like_test(path) or trees.is_aid(path)),
    )


def changed_paths(workspace: Trees, old: Commit, new: Commit) -> tuple[str, ...]:
    return tuple(sorted({path for _, path in workspace.changed_files(old, new)})) if old != new else ()


def _how(before: bytes | None, after: bytes | None) -> str:
    return "added" if before is None else "deleted" if after is None else "changed"


def _with_first_change(what: str, before: bytes | None, after: bytes | None) -> str:
    """How a file was changed, with the first line that is new, or else the first that is gone."""
    how = _how(before, after)
    old, new = (dict.fromkeys(line.strip()[:120] for line in text_of(each).splitlines()) for each in (before, after))
    changes = (*(line for line in new if line not in old), *(f"without {line}" for line in old if line not in new))
    line = next(iter(changes), "") if after is not None else ""
    return f"{what} {how}: {line}" if line else f"{what} {how}"
