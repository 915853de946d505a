"""The words of the issue format, and what lines of prose say with them.

Its statuses with what people write instead, its prefixes, kinds and priorities; the ids that a line names, however markup, editors
and keyboards dress them; and whether a line says in plain words that an issue is finished.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import msgspec

from flyball.core.workflows.backlog.values import ISSUE_FILES, Status

REQUIRED = ("id", "title", "created", "type", "priority", "status")
PREFIXES = frozenset("BUG FEAT ENHANCE REFACTOR DOC DOCS PERF SEC TEST CHORE DEBT STRUCT".split())
# Those of the format's own home, which lists fewer than it uses.
USED_PREFIXES = frozenset("CR SPLIT DOGFOOD MIGRATE QA ARCH BUILD".split())
TYPES = frozenset("bug feature enhancement refactor doc docs perf performance security test chore".split())
PRIORITIES = frozenset("critical high medium low".split())
ID = re.compile(r"([A-Z][A-Z0-9]*)-([0-9]{3,})@([0-9a-f]{6})", re.ASCII)
NUMBERED = re.compile(r"(.+)-([0-9]+)", re.ASCII)

_STATUSES: dict[Status, str] = {
    "proposed": "proposed open new todo to-do planned ready accepted triaged reopened reverted",
    "in-progress": "in-progress inprogress wip doing started active ongoing",
    "blocked": "blocked deferred on-hold hold paused waiting postponed stalled needs-input",
    "completed": "completed complete resolved done closed fixed finished implemented merged",
    "won't-fix": "won't-fix wont-fix wontfix rejected cancelled canceled declined duplicate invalid obsolete superseded",
}
_MEANING = {word: status for status, words in _STATUSES.items() for word in words.split()}


def status_of(word: str) -> Status | None:
    """What a status means, whatever its case, spaces, apostrophe and tick; None for a word that means nothing here."""
    unticked = word.lower().replace("\u2019", "'").strip("\u2705\u2611\u2714\ufe0f \t")
    return _MEANING.get(re.sub(r"[\s_]+", "-", unticked.strip()))


def id_faults(id: str) -> list[str]:
    """What an id has that `PREFIX-NUM@HASH` does not allow."""
    found = ID.fullmatch(id)
    if found is not None:
        return [] if found[1] in PREFIXES else [f"the prefix {found[1]} is not one of the listed ones"]
    name, at, mark = id.partition("@")
    numbered = NUMBERED.fullmatch(name)
    faults = [] if at else ["it has no `@` and hash"]
    if at and not re.fullmatch(r"[0-9a-f]{6}", mark):
        faults.append(f"the hash {mark!r} is not six lowercase hex characters")
    if numbered is None:
        faults.append("it has no number")
    elif len(numbered[2]) < 3:
        faults.append(f"the number {numbered[2]} has fewer than three digits")
    prefix = numbered[1] if numbered else name
    if prefix not in PREFIXES:
        faults.append(f"the prefix {prefix} is not one of the listed ones")
    return faults


def number_of(id: str) -> str:
    """`PREFIX-NUM` of an id, which people use for short."""
    return id.partition("@")[0]


def place_of(file: str) -> tuple[int, str]:
    """Where a file comes in order: the five by priority, then whatever else there is by name, and the backlog last."""
    last = len(ISSUE_FILES)
    if file == ISSUE_FILES[-1]:
        return last, ""
    return (ISSUE_FILES.index(file), "") if file in ISSUE_FILES else (last - 1, file)


def is_history(file: str) -> bool:
    return re.fullmatch(r"history(?:-[0-9]+)?\.md", file.casefold()) is not None


# People and editors write other spaces, dashes and widths than ASCII has; each becomes one character, so that places stay.
_PLAIN = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), "-"),
    **{0xFF00 + place: chr(0x20 + place) for place in range(1, 0x5F)},
}
_PREFIX = r"(?P<{}>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z][A-Za-z0-9]*)*)"
_TOKEN = re.compile(
    r"(?<![\w.@-])(?:"
    r"(?P<full>[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*[-_][0-9]+@[\w-]+|[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+@[\w-]+"
    r"|[A-Z]+[ #]?[0-9]+@[0-9a-f]{6})(?![\w-]|\.\w)"
    rf"|(?P<short>{_PREFIX.format('prefix')}-[0-9]+)(?![\w@-]|\.[0-9]))"
)
_HASHED = re.compile(r"(?P<prefix>[A-Za-z][A-Za-z0-9]*).*@(?P<hash>[\w-]+)")
_MARKS = re.compile(r"[*`~]+|\\(?=[^\w\s])|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_HIDDEN = re.compile(r"[^\x00-\x7f]|[*`~_\\&]")
_PLACEHOLDER = re.compile(r"<\w+>|\{\w+\}|\[\w+\]|\bNUM\b|NNN|XXX|###|\.\.\.|…")
_SHORTEST = 3


class KnownIssues(msgspec.Struct, frozen=True):
    """Issues that have a block or stand in history, by id and by number, and the prefixes that make a number one of theirs."""

    ids: frozenset[str] = frozenset()
    prefixes: frozenset[str] = PREFIXES | USED_PREFIXES

    @classmethod
    def of(cls, ids: Iterable[str]) -> KnownIssues:
        given = tuple(ids)
        numbers = [found for id in given if (found := NUMBERED.fullmatch(number_of(id)))]
        own = {found[1] for found in numbers}
        return cls(frozenset((*given, *map(number_of, given))), PREFIXES | USED_PREFIXES | own)


def plain(text: str) -> str:
    """The text with the spaces, dashes and letters of ASCII; as long as it was."""
    return text if text.isascii() else text.translate(_PLAIN)


def bare(line: str) -> str:
    """A line without what a reader does not see: emphasis, escapes and entities."""
    if not _HIDDEN.search(line):
        return line
    return _MARKS.sub("", plain(html.unescape(line) if "&" in line else line))


def is_placeholder(text: str) -> bool:
    """Whether a text only shows the form of an id."""
    return _PLACEHOLDER.search(text) is not None


def names_in(line: str, known: KnownIssues) -> list[str]:
    """The ids in a line: `PREFIX-NUM@HASH`, or `PREFIX-NUM` where the prefix is one of an issue."""
    tokens = (token for token in _TOKEN.finditer(bare(line)) if not is_placeholder(token[0]))
    return [_as_known(token[0], known) for token in tokens if _is_issue(token, known)]


def _is_issue(token: re.Match[str], known: KnownIssues) -> bool:
    if token["full"]:
        parts = _HASHED.fullmatch(token["full"])
        # A package with a version, or an address, has small letters before the at sign, and no hash behind it.
        small = parts is not None and not parts["prefix"].isupper() and parts["prefix"].upper() not in known.prefixes
        return not small or (parts is not None and re.fullmatch(r"[0-9a-f]{6}", parts["hash"]) is not None)
    prefix = token["prefix"]
    number = token["short"].rpartition("-")[2]
    if not prefix.isupper() and len(number) < _SHORTEST:
        return False  # `test-1` is a word, `bug-001` is a number somebody gave
    upper = prefix.upper()
    return bool({upper, upper.rpartition("-")[2], upper.partition("-")[0]} & known.prefixes)


def _as_known(name: str, known: KnownIssues) -> str:
    """A name as its issue has it: small letters may stand for great ones."""
    number, at, mark = name.partition("@")
    great = f"{number.upper()}{at}{mark}"
    return great if name not in known.ids and great in known.ids else name


_FINAL_WORDS = (
    "completed?|done|resolved|fixed|closed|finished|implemented|merged|won['\u2019]?t[- ]?fix|rejected|obsolete"
)
_WHEN = r"(?:(?:on|in|at|by|with)[ \t]+)?(?:(?:commit|pr|release|version)[ \t]*)?[#v]?[0-9][\w.:+-]*(?:[ \t]+[0-9][\w.:+-]*)?"
_LAST_WORD = re.compile(
    rf"(?i)(?:[(\[:=]|[-\u2013\u2014]>?)[ \t*_`]*(?:{_FINAL_WORDS})[ \t*_`]*(?:{_WHEN})?[)\].*_` \t]*$"
)
_FINAL_HEADING = re.compile(rf"(?i)[^\w?]*(?:{_FINAL_WORDS})(?:[ \t]+(?:issues|{_WHEN}))?[^\w?]*")
_TICKED = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])?[ \t]*(?:\[[xX]\]|[*_]*[\u2705\u2611\u2714]|~~.+~~[ \t]*$)")
_UNTICKED = re.compile(r"\[ ?\](?!\()|[\u2610\u274c]")
_STATUS = re.compile(
    r"(?i)(?:^[^A-Za-z0-9|]*|[|,{][^A-Za-z0-9|,]*)stat(?:us|e)[\"'*_`]*[ \t]*[:=|][ \t*_\"'`]*([^\r\n]*)"
)
_DATED = re.compile(rf"[ \t]*\(?{_WHEN}\)?$")


def statuses_in(line: str) -> list[Status | None]:
    """Every status a line gives, as a field or as the cell of a row; None for a value that is no status and nothing else."""
    cells = row_cells(line)
    if cells and not (len(cells) == 2 and _STATUS.search(line)):
        return [status for cell in cells if (status := status_of(cell))]
    values = (match[1] for match in _STATUS.finditer(line) if match[1].strip("| \t"))
    return [_status_in(value) for value in values if not _is_enumeration(value)]


def row_cells(line: str) -> list[str]:
    row = line.strip(" \t>")
    if not row.startswith("|") and row.count("|") < 2:
        return []
    return [cell.strip(" \t*_`") for cell in row.strip("|").split("|")]


def _status_in(value: str) -> Status | None:
    """The status a value is, with a date at most; a doubt beside it makes it none."""
    own = re.split(r"[|}<\"]|,(?=[^,|]*[:=])", value, maxsplit=1)[0].strip(" \t*_`'")
    return status_of(own) or status_of(_DATED.sub("", own))


def _is_enumeration(value: str) -> bool:
    """Whether a value lists the statuses there are instead of giving one."""
    parts = [status_of(part.strip(" \t*_`\"'")) for part in re.split(r"[,|/]|\bor\b", value) if part.strip()]
    return len(parts) > 1 and all(parts[:2])


def says_final(line: str) -> bool:
    """Whether a line says itself that what it names is finished: ticked, struck out, or with a final word at its end."""
    return not _UNTICKED.search(line) and bool(_TICKED.match(line) or _LAST_WORD.search(line))


def is_final_heading(title: str) -> bool:
    """Whether all that stands under a heading is said to be finished."""
    return _FINAL_HEADING.fullmatch(title) is not None
