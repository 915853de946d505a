"""Duplicated and unused code, by jscpd, with the project's settings where it has some."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees, is_product
from flyball.measures.evaluators.sources.linters import entry_files
from flyball.measures.evaluators.toolbox import ToolFailed

MIN_LINES = 11
SURE = 80
_MANIFESTS = frozenset({"package.json", "pyproject.toml", "setup.cfg", "tsconfig.json", "index.html", "manage.py"})


def clones(trees: TrackTrees) -> Iterator[TrackDefect]:
    """Passages of more than ten lines that stand in two places and did not in the base; reported where the track wrote."""
    if not _product_files(trees.head):
        return
    baseline = trees.toolbox.folder("jscpd-baseline") / "baseline.json"
    if _product_files(trees.base):
        _duplicates(trees, trees.base, ["--baseline", str(baseline), "--update-baseline"])
    known = ["--baseline", str(baseline)] if baseline.is_file() else []
    for said in _duplicates(trees, trees.head, known):
        if said["isNew"] or not known:
            one, other = (
                (side["name"].removeprefix("./"), int(side["start"]), int(side["end"]))
                for side in (said["firstFile"], said["secondFile"])
            )
            for here, there in ((one, other), (other, one)):
                if trees.changes.touches(*here):
                    path, first, last = here
                    message = f"{last - first + 1} lines stand here and in {there[0]}:{there[1]}"
                    yield TrackDefect("duplication", message, path, first, last, "write them once", new=True)


def _duplicates(trees: TrackTrees, tree: SourceTree, more: Sequence[str]) -> list[dict[str, Any]]:
    limits = ("--min-lines", str(MIN_LINES), "--min-tokens", "50", "--similarity=0.9", "--min-nodes", "40")
    own = () if trees.settings("jscpd") else limits
    return list(_report(trees, tree, [*own, *more], "jscpd-report.json", _product_files(tree))["duplicates"])


def unused_code(trees: TrackTrees, tree: SourceTree) -> Iterator[TrackDefect]:
    # An empty __init__.py makes a package of a folder: without it nothing in there looks imported.
    files = tuple(path for path in tree.of(*PYTHON, *SCRIPTS) if tree.text(path) or path.endswith("__init__.py"))
    if not files:
        return
    options = ("--dead-code", "--dead-code-categories", "all", "--min-confidence", "50")
    for said in _report(trees, tree, options, "basta-report.json", files).get("findings", ()):
        path, name, kind = str(said["path"]), str(said["name"]), str(said["category"])
        sure = int(said["confidence"]) >= SURE or re.fullmatch(r"_[a-z]\w*", name)
        if not sure and not _stands_alone(tree, path, name, kind):
            continue
        started = kind == "unused-file" and (path in entry_files(tree) or _is_named(tree, path))
        if kind != "unused-import" and not started and is_product(path) and not path.endswith("__init__.py"):
            line = int(said["start"]["line"])
            yield tree.defect("unused", f"{kind}: {name or path} is used nowhere", path, line, action="remove it")


def _stands_alone(tree: SourceTree, path: str, name: str, kind: str) -> bool:
    """Whether a name of a script is written once in the whole tree, in a file that is no entrance to a package.

    In Python any name without an underscore may be what a package offers.
    """
    exported = kind.startswith(("unused-export", "unused-symbol")) and not path.endswith(PYTHON)
    entrance = re.fullmatch(r"(?:.*/)?(?:index|main|mod)\.\w+", path) or path in entry_files(tree)
    if not exported or not name or entrance:
        return False
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return sum(len(word.findall(tree.text(each))) for each in tree.files) == 1


def _is_named(tree: SourceTree, path: str) -> bool:
    """Whether something that is no code names a file: a manifest, a page, a template."""
    name = Path(path).name
    others = (each for each in tree.files if not each.endswith((*PYTHON, *SCRIPTS, ".lock", ".md")))
    return any(name in tree.text(each) for each in others)


def _product_files(tree: SourceTree) -> tuple[str, ...]:
    return tuple(path for path in tree.product(*PYTHON, *SCRIPTS) if tree.text(path))


def _report(
    trees: TrackTrees, tree: SourceTree, options: Sequence[str], name: str, files: Sequence[str]
) -> dict[str, Any]:
    """The tool's report on some files, which are laid out alone: given single files it forgets their folders."""
    toolbox = trees.toolbox
    folder = toolbox.folder("jscpd-report")
    laid_out = folder / "tree"
    tree.copy_to(laid_out, (*files, *(each for each in tree.files if Path(each).name in _MANIFESTS)))
    settings = trees.settings("jscpd") or folder / "settings.json"
    if settings.parent == folder:
        settings.write_text("{}")
    fixed = ("-c", str(settings), "--silent", "--no-gitignore", "--reporters", "json", "--output", str(folder))
    toolbox.run("jscpd", [*fixed, *options, "."], cwd=laid_out)
    report = folder / name
    if not report.is_file():
        raise ToolFailed("jscpd wrote no report")
    said = toolbox.json("jscpd", report.read_bytes())
    assert isinstance(said, dict)
    return said
