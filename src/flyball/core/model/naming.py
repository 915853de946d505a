"""Names of tasks: making `NNN-slug` from a request, and finding the task a person means by a few words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from flyball.core.model.task import TaskId

LOOP = ".loop"
"""The folder of a repository in which every task has one of its own, under its name."""
MAX_SLUG = 40
FEWEST_WORDS = 3
MOST_WORDS = 5
NAMELESS = "task"

# Beyond the first lines a request explains; it no longer names.
_NAMING_PART = 2000
# Six digits: a folder that begins with a date is somebody else's.
_TASK_ID = re.compile(r"([0-9]{3}|[1-9][0-9]{3,5})-([a-z0-9]+(?:-[a-z0-9]+)*)")
_NUMBERED = re.compile(r"([0-9]{3}|[1-9][0-9]{3,5})-.*", re.DOTALL)
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_WORD = re.compile(r"[a-z0-9]+")
# Letters that Unicode does not take apart into a base letter and a mark.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_STOP_WORDS = frozenset(
    "a about all also am an and any are as at be been but by can could do does for from had has have he her his how i if in "
    "into is it its just let lets like make me must my need needs of on onto or our please shall she should so some such "
    "than that the their them then there these they this those to too us use using very want wants was we were what when "
    "where which while who will with would you your".split()
)
# What people say around the name of a task: "resume the auth task", "keep working on dark mode".
_AROUND = _STOP_WORDS | frozenset(
    "again back carry continue finish go going job keep last latest now one pick previous proceed restart resume start stuff "
    "task tasks thing things up work working".split()
)


class TaskName(msgspec.Struct, frozen=True):
    id: TaskId
    request: str = ""


class Match(msgspec.Struct, frozen=True):
    task: TaskName
    by: Literal["id", "part", "words"]


class Several(msgspec.Struct, frozen=True):
    """Tasks that fit equally well; a person must choose."""

    tasks: tuple[TaskName, ...]


def slug(request: str) -> str:
    """Three to five keywords of the request in kebab-case; fewer only where it has no more words."""
    words = list(dict.fromkeys(_words(request[:_NAMING_PART])))
    telling = [word for word in words if word not in _STOP_WORDS]
    if len(telling) < FEWEST_WORDS:
        fillers = [word for word in words if word in _STOP_WORDS][: FEWEST_WORDS - len(telling)]
        telling = [word for word in words if word in telling or word in fillers]
    return _join_within_limit(telling[:MOST_WORDS]) or NAMELESS


def task_id(number: int, slug: str) -> TaskId:
    """The id of a task; `slug` is one made by `slug()`."""
    made = f"{number:03d}-{slug}"
    if number < 1 or parse_task_id(made) is None:
        raise ValueError(
            f"{made!r} is not a task id; expected a number from 1 and a kebab-case slug of at most {MAX_SLUG} characters"
        )
    return TaskId(made)


def parse_task_id(text: str) -> tuple[int, str] | None:
    match = _TASK_ID.fullmatch(text)
    if match is None or len(match[2]) > MAX_SLUG:
        return None
    return int(match[1]), match[2]


def next_number(existing: Iterable[str]) -> int:
    """One more than the highest number any of the names begins with; names without one do not count."""
    matches = (_NUMBERED.fullmatch(name) for name in existing)
    return max((int(match[1]) for match in matches if match), default=0) + 1


def resolve(words: str, tasks: Sequence[TaskName]) -> Match | Several | None:
    """The task a person means: its id or number, else a part of its id, else words of its request; ordinary words around
    it are ignored.
    """
    if not words.strip():
        return None
    said = _words(words[:_NAMING_PART])
    # The words from the first to the last that names something; all of them where none does.
    naming = [place for place, word in enumerate(said) if word not in _AROUND]
    whole, core = "-".join(said), "-".join(said[naming[0] : naming[-1] + 1] if naming else said)
    for name in (words.strip().lower(), whole, core):
        exact = [task for task in tasks if name == task.id or _is_number(name, task)]
        if exact:
            return _match(exact, "id")
    for name in (whole, core):
        parts = _with_part(name, tasks)
        if parts:
            return _match(parts, "part")
    return _match(_best_described(said, tasks), "words")


def _match(tasks: Sequence[TaskName], by: Literal["id", "part", "words"]) -> Match | Several | None:
    if not tasks:
        return None
    return Match(tasks[0], by) if len(tasks) == 1 else Several(tuple(tasks))


def _is_number(wanted: str, task: TaskName) -> bool:
    named = parse_task_id(task.id)
    return named is not None and wanted.isascii() and wanted.isdigit() and wanted.lstrip("0") == str(named[0])


def _with_part(part: str, tasks: Sequence[TaskName]) -> list[TaskName]:
    """Tasks whose id has the part as whole words; failing that, anywhere."""
    if not part:
        return []
    whole = [task for task in tasks if f"-{part}-" in f"-{task.id}-"]
    return whole or [task for task in tasks if part in task.id]


def _best_described(said: list[str], tasks: Sequence[TaskName]) -> list[TaskName]:
    """Tasks with the most of the given keywords, if those are more than half."""
    given = list(dict.fromkeys(said))
    keywords = [word for word in given if word not in _AROUND] or given
    counts = [(sum(_has(word, task) for word in keywords), task) for task in tasks]
    best = max((count for count, _ in counts), default=0)
    return [task for count, task in counts if count == best] if best * 2 > len(keywords) else []


def _has(word: str, task: TaskName) -> bool:
    """Whether the task's id or request has the word, or a longer one that begins with it."""
    own = (*_words(task.id), *_words(task.request[:_NAMING_PART]))
    return word in own or (len(word) >= FEWEST_WORDS and any(other.startswith(word) for other in own))


def _words(text: str) -> list[str]:
    lower = _APOSTROPHE.sub("", text.lower()).translate(_LETTERS)
    ascii_text = unicodedata.normalize("NFKD", lower).encode("ascii", "ignore").decode("ascii").lower()
    return _WORD.findall(ascii_text)


def _join_within_limit(words: list[str]) -> str:
    """The words joined, within the limit: the last go first, then the longest are cut."""
    while len("-".join(words)) > MAX_SLUG and len(words) > FEWEST_WORDS:
        words = words[:-1]
    words = [word[:MAX_SLUG] for word in words]
    while len("-".join(words)) > MAX_SLUG:
        longest = max(range(len(words)), key=lambda index: len(words[index]))
        words[longest] = words[longest][:-1]
    return "-".join(words)
