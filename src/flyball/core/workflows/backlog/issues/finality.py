"""Whether a line of prose says that an issue is finished. What is said with a doubt beside it is not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.core.workflows.backlog.issues.words import status_of
from flyball.core.workflows.backlog.values import FINAL, Status

_FINAL_WORDS = (
    "completed?|done|resolved|fixed|closed|finished|implemented|merged|won['\u2019]?t[- ]?fix|rejected|obsolete"
)
_WHEN = r"(?:(?:on|in|at|by|with)[ \t]+)?(?:(?:commit|pr|release|version)[ \t]*)?[#v]?[0-9][\w.:+-]*(?:[ \t]+[0-9][\w.:+-]*)?"
_LAST_WORD = re.compile(
    rf"(?i)(?:[(\[:=]|[-\u2013\u2014]>?)[ \t*_`]*(?:{_FINAL_WORDS})[ \t*_`]*(?:{_WHEN})?[)\].*_` \t]*$"
)
_AROUND = r"recently|already|issues?|items?|tasks?|tickets?|bugs?|features?|work|things|this|last|week|month|sprint|session|cycle"
_FINAL_HEADING = re.compile(
    rf"(?i)[^\w?]*(?:(?:recently|already)\s+)?(?:{_FINAL_WORDS})\b(?:[^\w?]|\b(?:{_FINAL_WORDS}|{_AROUND}|and|or|{_WHEN})\b)*"
)
_TICKED = re.compile(r"[ \t>]*(?:[-*+]|[0-9]{1,4}[.)])?[ \t]*\[[xX]\]")
_TICK_FIRST = re.compile(r"(?:^[ \t>*+_#-]*|\|[ \t]*)[\u2705\u2611\u2714]")
_TICK_LAST = re.compile(r"[\u2705\u2611\u2714]\ufe0f?[ \t*_.)|]*$")
_UNTICKED = re.compile(
    r"\[ ?\](?!\()|[\u2610\u2b1c\u274c\u274e\u2717\u2718\u26a0]|[\U0001f534\U0001f7e0\U0001f7e1\u23f3]"
)
_STRUCK = re.compile(r"~~(.+?)~~")
_STATUS = re.compile(r"(?i)(?<![A-Za-z0-9-])stat(?:us|e)[\"'*_`]*[ \t]*[:=|][ \t*_\"'`]*([^\r\n]*)")
_OF_SOMETHING = re.compile(r"(?i)([a-z]+)[ \t*_`]+$")
_OWN_STATUS = frozenset({"current", "issue", "its", "the", "final", "new"})
_WORD = re.compile(r"[^\w]*([A-Za-z][A-Za-z'\u2019]*(?:[ _-][A-Za-z'\u2019]+)?)")
_PART = re.compile(r"[,|/}\]#<(]|\*\*|;")
_FIELD_END = re.compile(r"\||\*\*(?=\w)|<|\}|[\"]|[,;][ \t]*[\"'*_]*[A-Za-z_ ]{2,20}[\"'*_]*[ \t]*[:=]")
_DOUBT = re.compile(
    r"(?i)\?|\u2192|->|=>|[0-9] ?%|\b[0-9]+ ?(?:/|of) ?[0-9]+\b(?!/)|(?<!\w)(?:not?|never|but|except|until|unless|once|when|if|partial(?:ly)?"
    r"|partly|half|almost|mostly|nearly|pending|remain(?:s|ing)?|left|missing|re-?open(?:ed)?|revert(?:ed)?|open|todo|to-do|tbd|wip|again"
    r"|proposed|in[- _]progress|blocked|deferred|waiting|awaiting|needs?|later|soon|will|must|should|still|yet|untested|unverified"
    r"|false|\w+n['\u2019]t)(?!\w)"
)


def status_in(value: str) -> Status | None:
    """The status a value begins with; a final one with a doubt beside it is taken as blocked."""
    word = _WORD.match(_PART.split(value.strip(), maxsplit=1)[0])
    if word is None:
        return None
    status = status_of(word[1]) or status_of(re.split(r"[ _-]", word[1])[0])
    own = _FIELD_END.split(value, maxsplit=1)[0]
    return "blocked" if status in FINAL and (_DOUBT.search(_unworded(own)) or _UNTICKED.search(own)) else status


def statuses_in(line: str) -> list[Status | None]:
    """Every status a line gives; None for a word nobody knows. That of a review or a build finishes no issue."""
    found: list[Status | None] = []
    for match in _STATUS.finditer(line):
        if not _WORD.match(match[1]) or is_enumeration(match[1]):
            continue
        status, before = status_in(match[1]), _OF_SOMETHING.search(line[: match.start()])
        if before is None or before[1].casefold() in _OWN_STATUS or status not in FINAL:
            found.append(status)
    return found


def gives_status(line: str) -> bool:
    return _STATUS.search(line) is not None


def is_enumeration(value: str) -> bool:
    """Whether a value lists the statuses there are instead of giving one."""
    parts = [part for part in re.split(r"[,|/]|\bor\b", value) if part.strip()]
    return len(parts) > 1 and status_in(parts[0]) is not None and status_in(parts[1]) is not None


def is_final(stated: Sequence[Status | None]) -> bool:
    return bool(stated) and all(status in FINAL for status in stated)


def says_final(line: str, name: str) -> bool:
    """Whether a line says itself that what it names is finished: ticked, struck out, or with a final word at its end."""
    if _UNTICKED.search(line):
        return False
    ticked = _TICKED.match(line) or _TICK_FIRST.search(line) or _TICK_LAST.search(line)
    return bool(ticked or _LAST_WORD.search(line) or any(name in struck[1] for struck in _STRUCK.finditer(line)))


def is_final_heading(title: str) -> bool:
    """Whether all that stands under a heading is said to be finished."""
    return _FINAL_HEADING.fullmatch(title) is not None


def _unworded(value: str) -> str:
    """A value without `won't fix`, whose first word denies nothing here."""
    return re.sub(r"(?i)\bwon['\u2019]?t\b", "", value)
