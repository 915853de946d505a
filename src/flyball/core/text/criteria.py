"""What a source document asks for: its title, its goal, and the acceptance criteria a test can name."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from flyball.core.text.scrubbing import one_line, storable

MAX_TEXT = 2000
MAX_TITLE = 200

_SECTIONS = frozenset({"success criteria", "acceptance criteria"})
_GOALS = frozenset({"goal", "goals", "objective", "overview", "summary"})
_NAMELESS = frozenset(
    {"plan", "prp", "prd", "spec", "specification", "product requirements document", "tasks", "requirements"}
)
_BOX = re.compile(r"\[([ xX~!-])\](?:\s+(.*))?", re.DOTALL)
_OWN_ID = re.compile(r"[*_`]*AC[-_ ]?0*([0-9]{1,4})[*_`]*\s*[:.)\]–—-]+[*_`]*\s*(?=\S)", re.IGNORECASE)
_NUMBERING = re.compile(r"^(?:[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]?|[^\w\s]+)\s+")
_KIND = re.compile(r"^(?:PRP|PRD|Plan|Spec|Feature|Task)\s*[:–—-]\s*(?=\S)", re.IGNORECASE)
_MARKUP = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^(?:title|name)[ \t]*:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)


class Criterion(msgspec.Struct, frozen=True):
    """One checkbox: its id, what it asks, the 1-based line it stands on, and whether it is ticked."""

    id: str
    text: str
    line: int
    done: bool = False


def criteria(markdown: str) -> tuple[Criterion, ...]:
    """The checkboxes under headings `Success Criteria` and `Acceptance Criteria`, in order, each asked for once.

    A criterion that begins with an id of its own (`AC-3: …`) keeps that number; the others get those left over.
    """
    boxes: dict[str, Criterion] = {}
    for box in _boxes(_tokens(markdown)):
        same = boxes.get(box.text.casefold())
        # Asked for twice and ticked once is not done.
        boxes[box.text.casefold()] = msgspec.structs.replace(same, done=same.done and box.done) if same else box
    return tuple(_with_ids(list(boxes.values())))


def without_criteria(markdown: str) -> str:
    """The document without the boxes that `criteria` reads, for whoever shows these as a list of their own."""
    tokens = _tokens(markdown)
    starts = {box.line - 1 for box in _boxes(tokens)}
    paragraphs = (token.map for token in tokens if token.type == "paragraph_open" and token.map)
    gone = {row for first, after in paragraphs if first in starts for row in range(first, after)}
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = min(gone, default=-1)
    return "\n".join(
        "(listed below)" if row == first else line for row, line in enumerate(lines) if row == first or row not in gone
    )


def title(markdown: str) -> str:
    """What the document is about in a line: its first heading, unless that only says what kind of document it is."""
    tokens = _tokens(markdown)
    headings = [_plain(tokens[n + 1].content) for n, token in enumerate(tokens) if token.type == "heading_open"]
    named = (_KIND.sub("", heading) for heading in headings[:1] if heading.casefold() not in _NAMELESS)
    candidates = (*named, _front_title(markdown), goal(markdown), *headings, _first_line(markdown))
    return next((candidate[:MAX_TITLE].strip() for candidate in candidates if candidate.strip()), "")


def goal(markdown: str) -> str:
    """The first paragraph under a heading such as `Goal`; empty when there is none."""
    tokens = _tokens(markdown)
    wanted = False
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            wanted = _heading_name(tokens[index + 1]) in _GOALS
        elif wanted and token.type == "paragraph_open":
            return _short_line(_plain(tokens[index + 1].content))
    return ""


def names_criterion(text: str, criterion: Criterion) -> bool:
    """Whether a test's id or source names the criterion: `AC-1`, `ac_1`, `ac1`, `testAC1Login`, but not within `AC-12`."""
    number = int(criterion.id.rpartition("-")[2])
    spelt = rf"[-_ ]?0*{number}(?!\.?[0-9])"
    separate = rf"(?<![A-Za-z0-9])[Aa][Cc]{spelt}(?![A-Za-z])"
    camel = rf"(?<=[a-z])A[Cc]{spelt}(?![a-z])|(?<![A-Za-z0-9])A[Cc]{spelt}(?![a-z])"
    return bool(re.search(f"{separate}|{camel}", text))


def _tokens(markdown: str) -> list[Token]:
    """Block structure alone: inline markup is not parsed, which also spares its slow cases."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline"])
    text = markdown.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return parser.parse(_FRONT_MATTER.sub(lambda found: "\n" * found[0].count("\n"), text))


def _boxes(tokens: Sequence[Token]) -> Iterator[Criterion]:
    """Ticked and open boxes, without ids, of the sections that hold criteria."""
    rank: int | None = None
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            level = int(token.tag[1])
            if _heading_name(tokens[index + 1]) in _SECTIONS:
                rank = level
            elif rank is not None and level <= rank:
                rank = None
        elif rank is not None and token.type == "list_item_open":
            box = _box(tokens, index)
            if box is not None:
                yield box


def _box(tokens: Sequence[Token], index: int) -> Criterion | None:
    following = tokens[index + 1 : index + 3]
    if len(following) < 2 or following[0].type != "paragraph_open":
        return None
    match = _BOX.fullmatch(following[1].content)
    text = _short_line(match[2] or "") if match else ""
    if match is None or not text:
        return None
    line = (following[0].map or [0])[0] + 1
    return Criterion("", text, line, done=match[1] in "xX")


def _with_ids(boxes: Sequence[Criterion]) -> Iterator[Criterion]:
    own: dict[int, int] = {}
    for index, box in enumerate(boxes):
        match = _OWN_ID.match(box.text)
        if match and int(match[1]) > 0:
            own.setdefault(int(match[1]), index)
    numbers = {index: number for number, index in own.items()}
    free = (number for number in range(1, len(boxes) + len(own) + 1) if number not in own)
    for index, box in enumerate(boxes):
        number = numbers.get(index)
        text = _OWN_ID.sub("", box.text, count=1) if number else box.text
        yield msgspec.structs.replace(box, id=f"AC-{number or next(free)}", text=text)


def _heading_name(inline: Token) -> str:
    return _NUMBERING.sub("", _plain(inline.content)).rstrip(" :").casefold()


def _plain(content: str) -> str:
    return _short_line(_MARKUP.sub("", content))


def _short_line(text: str) -> str:
    return one_line(storable(text))[:MAX_TEXT].rstrip()


def _front_title(markdown: str) -> str:
    front = _FRONT_MATTER.match(markdown.replace("\r\n", "\n").removeprefix("\ufeff"))
    found = _FRONT_TITLE.search(front[1] or "") if front else None
    return _short_line(found[1]).strip("'\"") if found else ""


def _first_line(markdown: str) -> str:
    body = _FRONT_MATTER.sub("", markdown.replace("\r\n", "\n").removeprefix("\ufeff"))
    return next((_plain(line) for line in body.split("\n") if _plain(line)), "")
