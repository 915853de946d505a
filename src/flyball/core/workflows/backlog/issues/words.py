"""The words of the issue format: its statuses with what people write instead, its prefixes, kinds and priorities."""

import re

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
    """Whether a file, in any case of letters, holds what is finished."""
    return re.fullmatch(r"history(?:-[0-9]+)?\.md", file.casefold()) is not None
