"""What an evaluator is given: the tree of the track, the tree before it, what changed between them, and the track's documents."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

import msgspec

from flyball.core.evaluation.findings import Changes, PassResult, TrackDefect, judged_by, not_verified
from flyball.core.evaluation.options import EvaluatorOptions
from flyball.core.evaluation.structural import BuildRun
from flyball.measures.evaluators.toolbox import Toolbox, ToolFailed, ToolMissing, settings_file
from flyball.measures.sources import looks_like_test

PYTHON = (".py", ".pyi")
SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
STYLES = (".css", ".scss")
MARKUP = (".html", ".htm", ".vue", ".svelte")
LARGEST = 512 * 1024
"""Bytes of a file that is still looked at."""
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:node_modules|\.venv|venv|dist|build|vendor|vendored|third_party|__snapshots__|coverage|\.next)/"
    r"|\.min\.(?:js|css)$|\.gen\.|[._-]generated\.|_pb2(?:_grpc)?\.pyi?$|\.d\.ts$|(?:^|/)(?:sw|service-worker)\.js$"
)
_SILENCING = re.compile(r"(?:eslint|oxlint)-(?:disable|enable)(?:-next)?(?:-line)?|jscpd:ignore-(?:start|end)")
_GENERATED = re.compile(r"@generated|\b(?:auto-?)?generated (?:by|from|file)\b|do not edit", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:^|/)(?:stories|mocks?|__mocks__|fixtures?|examples?|demos?|benchmarks?|scripts)/|\.stories\.|(?:^|/)conftest\.py$"
)


class CoverageLines(msgspec.Struct, frozen=True):
    """For each file of a coverage report the lines that could run, and whether each did."""

    files: dict[str, dict[int, bool]] = {}
    problem: str = ""


class TrackGround(msgspec.Struct, frozen=True):
    """The request to one evaluator, which is started in the track's tree; the other folders are named by their paths."""

    evaluator: str
    base: str
    scratch: str
    files: tuple[str, ...]
    base_files: tuple[str, ...]
    changes: Changes
    options: EvaluatorOptions = EvaluatorOptions()
    spec: str = ""
    product: str = ""
    product_file: str = ""
    base_product: str = ""
    build: BuildRun | None = None
    coverage: CoverageLines | None = None
    shots: str = ""
    track: str = ""
    environment: dict[str, str] = {}
    cache: str = ""


class SourceTree:
    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self.root = root
        self.files = tuple(files)
        self._texts: dict[str, str] = {}

    def text(self, path: str) -> str:
        """What a file holds; nothing for one that is no text or too large."""
        if path not in self._texts:
            self._texts[path] = _read(self.root / path)
        return self._texts[path]

    def line(self, path: str, number: int) -> str:
        lines = self.text(path).split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def of(self, *endings: str) -> tuple[str, ...]:
        """Files with one of the endings that somebody wrote, tests and what lies beside the product included."""
        return tuple(path for path in self.written if path.endswith(endings))

    def product(self, *endings: str) -> tuple[str, ...]:
        return tuple(path for path in self.of(*endings) if is_product(path))

    @cached_property
    def written(self) -> tuple[str, ...]:
        code = (*PYTHON, *SCRIPTS, *STYLES)
        kept = [path for path in self.files if not _LEFT_OUT.search(path)]
        return tuple(path for path in kept if not (path.endswith(code) and _GENERATED.search(self.text(path)[:600])))

    def copy_to(self, folder: Path, files: Iterable[str]) -> None:
        """Lay some files out elsewhere, without the comments that silence a tool; every line stays where it is."""
        for path in dict.fromkeys(files):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(_SILENCING.sub("comment", self.text(path)), encoding="utf-8")

    def defect(
        self, rule: str, message: str, path: str, line: int, *, end_line: int = 0, action: str = ""
    ) -> TrackDefect:
        """A defect with the text of its line, which is a part of what tells it from others."""
        return TrackDefect(rule, message, path, line, end_line, action, self.line(path, line).strip()[:400])


Look = Callable[[SourceTree], Iterable[TrackDefect]]


class TrackTrees:
    def __init__(self, ground: TrackGround, head: Path, toolbox: Toolbox) -> None:
        self.ground = ground
        self.toolbox = toolbox
        self.head = SourceTree(head, ground.files)
        self.base = SourceTree(Path(ground.base), ground.base_files)

    @property
    def changes(self) -> Changes:
        return self.ground.changes

    def changed_files(self, *endings: str) -> tuple[str, ...]:
        """Files with these endings that the track changed, as they are now."""
        return tuple(path for path in self.head.of(*endings) if path in self.changes.spans)

    def settings(self, tool: str) -> Path | None:
        """The project's own configuration of a tool, as it stood before the track, which cannot loosen it."""
        tree = self.base if self.base.files else self.head
        path = settings_file(tool, tree.files, tree.text)
        return tree.root / path if path else None

    def compare(self, name: str, *looks: Look) -> PassResult:
        """What looks find in the track's tree, held against what they find in the tree before; two tools count one line once.

        A tool that is missing, or fails on the tree before the track as well, says nothing of the track.
        """
        found: list[TrackDefect] = []
        before: list[TrackDefect] = []
        absent: list[str] = []
        for look in looks:
            try:
                here = list(look(self.head))
                before += list(look(self.base)) if here else []
            except ToolMissing as error:
                absent.append(str(error))
            except ToolFailed as error:
                if self._works_before(look):
                    return PassResult(name, "fail", reason=f"{name}: {error}")
                absent.append(str(error))
            else:
                seen = {(each.file, each.line) for each in found if each.line}
                found += [each for each in here if (each.file, each.line) not in seen]
        result = judged_by(name, found, before, self.changes)
        return not_verified(result, absent) if absent else result

    def _works_before(self, look: Look) -> bool:
        try:
            list(look(self.base))
        except (ToolMissing, ToolFailed):
            return False
        return bool(self.base.files)


def is_product(path: str) -> bool:
    """Whether a file is neither a test nor something that lies beside the product."""
    return not looks_like_test(path) and not _ASIDE.search(path)


def not_applicable(name: str, reason: str) -> PassResult:
    return PassResult(name, "n/a", reason=reason)


def _read(path: Path) -> str:
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return ""
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return ""
