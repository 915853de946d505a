"""The evaluator `ui-ux`: rules on sources always, pages in a browser where the project says how to see them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from flyball.core.evaluation.catalogue import UI_UX
from flyball.core.evaluation.findings import PassResult, TrackDefect, judged_by, not_verified
from flyball.core.text.scrubbing import one_line
from flyball.measures.evaluators.browsing.browser import PageFinding, PagesSeen, look_at_pages
from flyball.measures.evaluators.browsing.pages import MOST, PageAddress, PageQueue, addresses_of, changed_templates
from flyball.measures.evaluators.browsing.shown import ShownSources
from flyball.measures.evaluators.browsing.spelling import SHOWING, misspelt_words
from flyball.measures.evaluators.contract import Evaluator
from flyball.measures.evaluators.ground import MARKUP, SCRIPTS, STYLES, Look, TrackTrees, not_applicable
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.evaluators.toolbox import ToolFailed, ToolMissing

CONSOLE = "console"
PASS_OF = {
    **dict.fromkeys(("overlap", "covered", "clipped", "title", "h1", "main"), "layout"),
    **dict.fromkeys(("overflow", "target", "viewport"), "responsive"),
    **dict.fromkeys(("text", "link-text", "button-text"), "copy"),
    "motion": "animation",
    **dict.fromkeys(("states", CONSOLE), "component states"),
}
IN_BROWSER = ("layout", "responsive", "component states", "animation", "accessibility", "copy")


def measure(trees: TrackTrees) -> Iterator[PassResult]:
    linters, syntax = Linters(trees), Syntax(trees.toolbox)
    styled = trees.changed_files(*STYLES, *SCRIPTS, *MARKUP)
    for name in ("design tokens", "layout", "component states", "animation", "accessibility", "copy"):
        yield _static(trees, name, styled, partial(syntax.defects, pass_name=name))
    for name in ("accessibility", "copy"):
        yield _static(trees, name, trees.changed_files(*SCRIPTS), *linters.looks(name))
    shown = trees.changed_files(*MARKUP, *SHOWING)
    yield _static(trees, "copy", shown, lambda tree: misspelt_words(syntax, trees, tree, shown))
    yield from _pages(trees)


def _static(trees: TrackTrees, name: str, about: Sequence[str], *looks: Look) -> PassResult:
    """A look at sources, which applies only if the track changed some of those it is about."""
    return (
        trees.compare(name, *looks) if about else not_applicable(name, "the track changed no style, markup or script")
    )


def _pages(trees: TrackTrees) -> Iterator[PassResult]:
    options = trees.ground.options
    if not options.url and not options.start:
        reason = "no url and no start command is set below [evaluators]"
        yield from (not_applicable(name, reason) for name in IN_BROWSER)
        return
    shown = ShownSources(trees.head)
    try:
        shots = Path(trees.ground.shots) if trees.ground.shots else None
        queue = PageQueue(options.pages, addresses_of(trees), shown)
        head = look_at_pages(options, trees.head.root, trees.toolbox, queue, shots)
    except ToolMissing as error:
        yield from (not_verified(PassResult(name, "pass"), [str(error)]) for name in IN_BROWSER)
        return
    except ToolFailed as error:
        yield from (PassResult(name, "fail", reason=f"{name}: {error}") for name in IN_BROWSER)
        return
    base, note = _base(trees, head.pages)
    templates = changed_templates(trees)
    missing = not_opened(shown.list_unseen(templates), head.pages)
    untold = tuple(f"it cannot be told whether a page shows {file}" for file in shown.list_untellable(templates))
    notes = (f"pages opened: {', '.join(head.pages)}", *untold, *head.notes, *note)
    moved = trees.changes.moved
    for name in IN_BROWSER:
        found = [_defect(shown, each) for each in head.findings if _pass_of(each) == name]
        old = [_defect(shown, each) for each in base.findings if _pass_of(each) == name]
        # A finding of the old pages is looked for in the new files, so that both are told alike, under the file's old name.
        before = [msgspec.structs.replace(each, file=moved.get(each.file, each.file)) for each in old]
        pictures = tuple(f"screenshot: {shot}" for shot in head.shots) if name == "layout" else ()
        yield judged_by(name, found, before, trees.changes, notes=(*pictures, *notes))
        if missing:
            yield PassResult(name, "fail", reason=missing)


def not_opened(files: Sequence[str], pages: Sequence[str]) -> str:
    """What to say of changed templates that nobody saw; nothing where all were seen."""
    if not files:
        return ""
    return (
        f"not seen: {', '.join(files)}; none of the pages that were opened ({', '.join(pages)}) shows it; "
        f"name its page in evaluators.pages (beyond those, {MOST} pages that changed or are linked are opened)"
    )


def _base(trees: TrackTrees, pages: Sequence[str]) -> tuple[PagesSeen, tuple[str, ...]]:
    """The same pages as they were; where they cannot be seen every finding counts, and that is said."""
    options = trees.ground.options
    if not options.start or not trees.base.files:
        return PagesSeen(), ("the pages as they were before cannot be seen, so every finding counts",)
    queue = PageQueue((), [PageAddress(page) for page in pages], most=len(pages))
    try:
        return look_at_pages(options, trees.base.root, trees.toolbox, queue, None), ()
    except (ToolMissing, ToolFailed) as error:
        return PagesSeen(), (f"the pages as they were before cannot be seen ({error}), so every finding counts",)


def _pass_of(finding: PageFinding) -> str:
    return PASS_OF.get(finding.rule, "accessibility")


def _defect(shown: ShownSources, finding: PageFinding) -> TrackDefect:
    """A finding with the line of the source that holds its element, where there is one such line."""
    file, line = shown.place(finding.page, finding.html, finding.text) if finding.rule != CONSOLE else ("", 0)
    about = f" ({one_line(finding.text)})" if finding.text else ""
    return TrackDefect(finding.rule, f"{finding.page}: {finding.message}{about}", file, line, text=finding.html)


EVALUATOR = Evaluator(UI_UX, measure)
