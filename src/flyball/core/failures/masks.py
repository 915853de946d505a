"""Masks that take out of one line of tool output what differs between two runs of the same failure.

Each mask removes one cause named in M20. Whole dates and small integers stay: "got 6" is not "got -1".
"""

import re
from functools import cache

_ANSI = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]|\x1b[ -/]+[0-~]|\x1b\[[0-?]*[ -/]*[@-~]")
_GAP = re.compile(r"[^\S\n]{40,}")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")

_FILE_NAME = r"(?:[\w@+~.-]+\.[A-Za-z]\w{0,7}|(?:GNU)?[Mm]akefile|Dockerfile|Rakefile|Gemfile)"
# A path is of the file system when its root is a usual one or its last part has a suffix; "/api/users" is a route.
_ROOTS = (
    r"tmp|var|home|Users|root|srv|opt|usr|private|mnt|media|work|workspaces?|app|builds?|data|github|nix|etc|proc|dev"
    r"|lib|lib64|bin|run|code|repo|src|rustc|project|projects|runner|snap|Library|Applications|cygdrive"
)
_PART = r"[^\s'\"`:,;()\[\]{}<>|*?/\\]+"
_ABSOLUTE = re.compile(
    rf"(?:file://|(?<![\w.~/@]))/(?:(?:{_ROOTS})(?:/{_PART})*/?|(?:{_PART}/)+{_FILE_NAME}(?![\w/]))"
    rf"|(?<!\w)[A-Za-z]:\\[^\s'\"`:,;()<>|*?]+"
)
_UPWARD = re.compile(rf"(?<![\w./])(?:\.\./)+(?:{_PART}/)*(?={_PART})")
_HERE = re.compile(r"(?<![\w./])\./(?=\w)")
_TEMPORARY = re.compile(r"^/(?:private/)?(?:tmp|var/tmp|var/folders/\w+/\w+/T|dev/shm|run/user/\d+)/([^/]+)(/.*)?$")

_RULES: tuple[tuple[str, str], ...] = (
    # places in files
    (rf"({_FILE_NAME})(?:\(\d+(?:,\s?\d+)?\)|:\d+(?::\d+)?(?:-\d+(?::\d+)?)?)(?::(?=\s|$))?", r"\1:"),
    (r"(\.\w+:) - (?=error|warning)", r"\1 "),
    (r"^\s*\d+:\d+(?=\s|:)", ""),
    (r"\(\d+:\d+\)|\[\d+:\d+\]", "(:)"),
    (
        r"\b([Ll]ines?|[Rr]ow|[Cc]ol(?:umn)?|[Cc]har(?:acter)?|[Pp]osition|[Oo]ffset|ln)[ :=#]*\d+(?:\s?-\s?\d+)?",
        r"\1 #",
    ),
    # times and durations
    (r"\d{4}-\d\d-\d\d[T _]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?(?:Z|\s?[+-]\d\d:?\d\d)?", "<time>"),
    (r"(?<![\w.])1[5-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?!\w)", "<time>"),  # since 1970
    (r"datetime\.datetime\((?:\d+, ){6}\d+[^)]*\)", "<time>"),
    (r"(?<![\d:])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?:\s?[AP]M)?(?![\d:])", "<time>"),
    (
        (
            r"(?<![\w.])(?:\d+h\s?)?(?:\d+m\s?)?\d+(?:\.\d+)?\s?"
            r"(?:ns|[uµμ]s|ms|s|secs?|seconds?|milliseconds?|microseconds?|mins?|minutes?)\b"
        ),
        "<duration>",
    ),
    # identities
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<id>"),
    (r"\b0[xX][0-9a-fA-F]{5,}\b", "<address>"),
    (r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b|\b(?=[0-9A-F]*\d)(?=\d*[A-F])[0-9A-F]{8,}\b", "<id>"),
    (r"\b(?=(?:[A-Za-z]*\d){3})(?=\d*[A-Za-z])[A-Za-z0-9]{20,}\b", "<id>"),
    (r"\b(thread '[^']*') \(\d+\)", r"\1"),
    (r"\b([Pp]id|PID|ppid|[Pp]roc(?:ess)?|tid|[Tt]hread|goroutine|inode|fd|(?:\w*[_-])?seed)([ =:#]+)\d+", r"\1 #"),
    (r"\b(Thread|Process|Worker|\w*PoolWorker|Task|gw)-?\d+\b", r"\1-#"),
    (r"==\d+==", "=="),
    (r"\b(\w*[iI][dD])([=: ]+['\"]?)\d{4,}", r"\1\2#"),
    # addresses on the network
    (r"\b(localhost|\d{1,3}(?:\.\d{1,3}){3}|https?://[^\s:/]+):\d{2,5}\b", r"\1:#"),
    (r"(\]|::):\d{2,5}\b", r"\1:#"),
    (r"('\d{1,3}(?:\.\d{1,3}){3}', |\b[Pp]ort[ =:]+)\d{2,5}\b", r"\1#"),
    # numbers too long to have been written by a person
    (r"(?<![\w.])\d{5,}(?:\.\d+)?(?![\w])", "<number>"),
    (r"(?<![\w.])\d{3,}\.\d{6,}(?![\w.])", "<number>"),
    (r"(?<![\w.])(\d{1,2})\.\d{6,}(?:e[+-]?\d+)?", r"\1.#"),
)
_DIGIT = re.compile(r"\d")
# The names Python's tempfile, mktemp(1) and gcc give.
_TMP_NAME = re.compile(r"\btmp(?:[a-z0-9_]{8}|\.[A-Za-z0-9]{10})\b|\bcc[A-Za-z0-9]{6}(?=\.[os]\b)")
# A line that carries a time or an id is a log line: a number of four digits in it is a process, not a result.
_OF_THE_RUN = re.compile(r"<time>|<id>")
_RUN_NUMBER = re.compile(r"(?<![\w.])\d{4,}(?![\w.])")
_BRACES = re.compile(r"\{([^{}]*, [^{}]*)\}")
_SPACE = re.compile(r"\s+")

LONGEST_LINE = 1_000
# What is cut off before masking must lie behind what is kept, or the cut itself would differ between runs.
_LONGEST_MASKED = 600


def plain(text: str) -> str:
    """The text without colours, links, cursor movements, control characters and wide gaps."""
    return _GAP.sub(" " * 40, _CONTROL.sub("", _ANSI.sub("", text) if "\x1b" in text else text))


def mask(line: str) -> str:
    """The line as it would read in any other run of the same failure."""
    line = line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE]
    if "/" in line or "\\" in line:
        line = _HERE.sub("", _UPWARD.sub("", _ABSOLUTE.sub(_shorten, line)))
    if "tmp" in line or "cc" in line:
        line = _TMP_NAME.sub("<tmp>", line)
    if _DIGIT.search(line):
        for pattern, replacement in _masks():
            line = pattern.sub(replacement, line)
        if _OF_THE_RUN.search(line):
            line = _RUN_NUMBER.sub("<number>", line)
    if "{" in line:
        line = _BRACES.sub(_sort_members, line)
    return _SPACE.sub(" ", line).strip()[:_LONGEST_MASKED].rstrip()


@cache
def _masks() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled at the first failure, as noise is."""
    return tuple((re.compile(pattern), to) for pattern, to in _RULES)


def _shorten(match: re.Match[str]) -> str:
    path = match.group().removeprefix("file://").rstrip("/")
    temporary = _TEMPORARY.match(path)
    if temporary and not temporary.group(2):
        name = temporary.group(1)
        return "<tmp>" + (name[name.rindex(".") :] if 0 < name.rfind(".") >= len(name) - 5 else "")
    name = re.split(r"[/\\]", path)[-1]
    return name if not temporary or "." in name else "<tmp>"


def _sort_members(match: re.Match[str]) -> str:
    """Members of a printed set come in the order of the hash seed."""
    return "{" + ", ".join(sorted(match.group(1).split(", "))) + "}"
