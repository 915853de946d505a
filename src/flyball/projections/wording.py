"""Foreign text, numbers and times as every screen writes them; nothing here lets a text act as markup or steer a terminal."""

import re
import unicodedata
from datetime import UTC, datetime

from flyball.core.model.outcomes import DayCounted
from flyball.core.model.task import MAIN, Limits
from flyball.core.text.scrubbing import INVISIBLE, one_line, storable

LONG_WORD = 24
NO_LIMITS = Limits()
_ACTIVE = re.compile(r"[\\`*\[\]<>|~&]|(?<![^\W_])_|_(?![^\W_])")
_LEADING = re.compile(r"^(?:[#+=-]|\d{1,9}(?=[.)](?:\s|$)))")
_TICKS = re.compile(r"`+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_ENDS_WITH_COMMAND = re.compile(
    r"(?P<text>.*?[.;:,]?)\s+(?P<lead>[^.;:]*): (?P<command>(?:flyball|git) [^\n;]+)", re.DOTALL
)
_GUARDS = {"breaker": "cool-down", "hourly": "calls this hour", "crash": "after a crash", "budget": "the day's budget"}


def guard_name(guard: str) -> str:
    return _GUARDS.get(guard, guard)


def name_lane(lane: str, text: str) -> str:
    """A text behind the subtask whose lane it is about; the task's own lane is not named."""
    return text if lane == MAIN else f"{lane}: {text}"


def money(usd: float | None, known: float = 0.0, *, estimated: bool = False, digits: int = 2) -> str:
    """An amount; a dash where it is not known, and what is known of it where that is a part."""
    if usd is not None:
        return f"{'about ' if estimated else ''}{usd:.{digits}f} USD"
    return f"at least {known:.{digits}f} USD" if known else "– USD"


def describe_day(day: DayCounted, limits: Limits = NO_LIMITS) -> str:
    tokens = f"{day.usage.tokens:,}" if day.usage.tokens or not day.turns else "–"
    of_usd = f" of {limits.budget_usd_per_day:g}" if limits.budget_usd_per_day else ""
    of_tokens = f" of {limits.budget_tokens_per_day:,}" if limits.budget_tokens_per_day else ""
    return f"{money(day.usage.usd, day.known_usd, estimated=day.usage.estimated)}{of_usd}, {tokens} tokens{of_tokens}"


def dollars(usd: float) -> str:
    """An amount as pages write it: whole dollars without cents."""
    return f"${usd:.0f}" if usd == int(usd) else f"${usd:.2f}"


def plain(text: str, limit: int = 300) -> str:
    """One line of text without control characters, cut at a limit, between words unless the word there is very long."""
    # Most texts are such a line already; to look is far quicker than to make one.
    if len(text) <= limit and text.isprintable() and "  " not in text and text == text.strip():
        return text
    line = one_line(storable(text[: limit * 8]))
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    head, _, begun = kept.rpartition(" ")
    if head and len(begun) < LONG_WORD and line[limit - 1] != " ":
        kept = head
    return kept.rstrip() + "…"


def escape(text: str, limit: int = 300) -> str:
    """One line of foreign text that Markdown shows as it stands, in a paragraph, a list item or a table cell."""
    line = _ACTIVE.sub(lambda found: "\\" + found[0], plain(text, limit))
    return _LEADING.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", line)


def code(text: str, limit: int = 300) -> str:
    """One line as a code span that nothing inside can end."""
    line = plain(text, limit)
    if not line:
        return ""
    ticks = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def visible(text: str) -> str:
    """The same text; what steers or shows nothing, by its category, is shown by its picture (`␛`) or its number (`⟨202E⟩`)."""
    if not text.isprintable():
        text = "".join(letter if _is_plain(letter) else _sign(letter) for letter in text)
    return text if text.isascii() else _INVISIBLE.sub(lambda found: _sign(found[0]), text)


def _is_plain(letter: str) -> bool:
    return letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"


def _sign(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨{code:04X}⟩"


def cut(text: str, limit: int) -> str:
    """A long text up to a limit, and how much more there is."""
    return text if len(text) <= limit else f"{text[:limit]}… and {len(text) - limit:,} characters more"


def split_command(text: str) -> tuple[str, str]:
    """A refusal with what leads to the command it ends with, and the command, which has a line of its own on a page."""
    found = _ENDS_WITH_COMMAND.fullmatch(text.strip())
    return (f"{found['text']} {found['lead']}:", found["command"]) if found else (text, "")


def short(commit: str) -> str:
    """A commit as people quote it."""
    return plain(commit, 64)[:10]


def stamp(at: datetime) -> str:
    """A time to the second, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def size(count: int) -> str:
    """An amount of bytes in the unit that makes it short: `812 B`, `4.0 KiB`, `1.3 GiB`."""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount >= 1024:
            amount, unit = amount / 1024, larger
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def clock_time(at: datetime, now: datetime) -> str:
    """A time of today as `15:40 UTC`, of another day with its date."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"


def short_time(at: datetime, now: datetime) -> str:
    """`15:40` today, `Tue 01:31` within a week, else the date."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return f"{at:%a %H:%M}" if abs((at - now).days) < 6 else f"{at:%d %b %Y}"


def age(seconds: float) -> str:
    """How long ago something was, in its largest unit: `41 s`, `3 min`, `2 h`, `5 d`."""
    whole = max(0, round(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def duration(seconds: float) -> str:
    """How long something took: `41 s`, `3 min 5 s`, `2 h 4 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
