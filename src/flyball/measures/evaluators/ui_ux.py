"""The evaluator `ui-ux`: rules on sources always, pages in a browser where the project says how to see them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from flyball.core.evaluation.catalogue import UI_UX
from flyball.core.evaluation.findings import PassResult, TrackDefect, judged_by
from flyball.measures.evaluators.browser import PageFinding, PagesSeen, look_at_pages
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import MARKUP, SCRIPTS, STYLES, SourceTree, TrackTrees, not_applicable
from flyball.measures.evaluators.linters import Linters
from flyball.measures.evaluators.spelling import SHOWING, misspelt
from flyball.measures.evaluators.syntax import Syntax
from flyball.measures.evaluators.toolbox import ToolFailed, ToolMissing

LAYOUT = frozenset({"overlap", "covered", "clipped", "title", "h1", "main"})
PASS_OF = {
    **dict.fromkeys(LAYOUT, "layout"),
    **dict.fromkeys(("overflow", "target", "viewport"), "responsive"),
    **dict.fromkeys(("text", "link-text", "button-text"), "copy"),
    "motion": "animation",
    "states": "component states",
}
IN_BROWSER = ("layout", "responsive", "component states", "animation", "accessibility", "copy")
UNSET = "no url and no start command is set below [evaluators]"


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    """Every measured pass of the user interface."""
    linters, syntax = Linters(trees.toolbox), Syntax(trees.toolbox)
    styled = trees.changed(*STYLES, *SCRIPTS, *MARKUP)
    for name in ("design tokens", "layout", "component states", "animation", "accessibility", "copy"):
        yield _static(trees, name, lambda tree, name=name: syntax.defects(tree, name), bool(styled))  # type: ignore[misc]
    for name in ("accessibility", "copy"):
        yield _static(
            trees,
            name,
            lambda tree, name=name: linters.defects(tree, name),  # type: ignore[misc]
            bool(trees.changed(*SCRIPTS)),
        )
    shown = trees.changed(*MARKUP, *SHOWING)
    yield _static(trees, "copy", lambda tree: misspelt(syntax, trees.toolbox, tree, shown), bool(shown))
    yield from _pages(trees)


def _static(
    trees: TrackTrees, name: str, look: Callable[[SourceTree], Sequence[TrackDefect]], applies: bool
) -> PassResult:
    return (
        trees.compare(name, look) if applies else not_applicable(name, "the track changed no style, markup or script")
    )


def _pages(trees: TrackTrees) -> Iterator[PassResult]:
    options = trees.ground.options
    if not options.url and not options.start:
        yield from (not_applicable(name, UNSET) for name in IN_BROWSER)
        return
    try:
        shots = Path(trees.ground.shots) if trees.ground.shots else None
        head = look_at_pages(options, trees.head.root, trees.toolbox, shots)
    except (ToolMissing, ToolFailed) as error:
        yield from (PassResult(name, "fail", reason=f"{name}: {error}") for name in IN_BROWSER)
        return
    base, note = _base(trees)
    pictures = tuple(f"screenshot: {name}" for name in head.shots)
    for name in IN_BROWSER:
        found = [_defect(trees.head, each) for each in head.findings if _pass_of(each) == name]
        before = [_defect(trees.base, each) for each in base.findings if _pass_of(each) == name]
        yield judged_by(
            name, found, before, trees.changes, notes=(*(pictures if name == "layout" else ()), *head.notes, *note)
        )


def _base(trees: TrackTrees) -> tuple[PagesSeen, tuple[str, ...]]:
    """The pages as they were; where they cannot be seen every finding counts, and that is said."""
    options = trees.ground.options
    if not options.start or not trees.base.files:
        return PagesSeen(), ("the pages as they were before cannot be seen, so every finding counts",)
    try:
        return look_at_pages(options, trees.base.root, trees.toolbox, None), ()
    except (ToolMissing, ToolFailed) as error:
        return PagesSeen(), (f"the pages as they were before cannot be seen ({error}), so every finding counts",)


def _pass_of(finding: PageFinding) -> str:
    return PASS_OF.get(finding.rule, "accessibility")


def _defect(tree: SourceTree, finding: PageFinding) -> TrackDefect:
    """A finding with the line of the source its element most likely comes from."""
    file, line = located(tree, finding)
    about = f" ({finding.text})" if finding.text else ""
    return TrackDefect(finding.rule, f"{finding.page}: {finding.message}{about}", file, line, text=finding.html)


def located(tree: SourceTree, finding: PageFinding) -> tuple[str, int]:
    """The first line of markup that holds the element's opening, its id, its text or its class; none where nothing does."""
    html = finding.html
    names = [*re.findall(r"\bid=\"([^\"]+)\"", html), *re.findall(r"\bclass=\"([^\"]+)\"", html)]
    hints = [
        html,
        *(f'"{name}"' for name in names[:1]),
        finding.text.split("\n")[0],
        *(f'"{name}"' for name in names[1:]),
    ]
    sources = [
        path for path in tree.files if path.endswith((*MARKUP, ".tsx", ".jsx", ".js", ".ts", ".jinja", ".j2", ".py"))
    ]
    for hint in (hint for hint in hints if len(hint) > 2):
        for path in sources:
            for number, line in enumerate(tree.text(path).split("\n"), start=1):
                if hint in line:
                    return path, number
    pages = [path for path in sources if path.endswith("index.html")]
    return (pages[0], 1) if pages else ("", 0)


EVALUATOR = Evaluator(UI_UX, measure)
