"""Reads a batch result (M1): JSON, or lines that begin with `Batch:`, `Review:`, `Passed:`, `Failed:`, `Blocked:`.

Nothing that is told is dropped. A line, an entry or a field that cannot be read makes the whole input unreadable, and the
error names its line.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import msgspec

from flyball.core.advice.batch import BatchResult, Failure, Review
from flyball.core.claims.values import meaning
from flyball.core.health.verdict import Blocker
from flyball.core.text.json_place import line_of
from flyball.core.text.strict_json import JsonUnreadable, problem, read_json

_BLANK = b"\xef\xbb\xbf \t\r\n"
_NEWLINE = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\w*\s*")
_SECTION = re.compile(r"[^\w\[({]*(Batch|Review|Passed|Failed|Blocked)[^\w\[({]*?:[ \t*]*(.*)", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_NOTHING = frozenset({"", "none", "nothing", "null", "-", "–", "—", "n/a", "[]", "{}"})
_QUOTES = "'\"`* \t"
_ID = r"\w(?:[\w./#@+~-]*\w)?"
_NAME = re.compile(_ID)
_ENTRY = re.compile(rf"['\"`*]*(?P<id>{_ID})['\"`*]*(?:\s*(?P<mark>[:(])|\s+|$)(?P<rest>.*)", re.DOTALL)
_BEGINS_WITH_MARK = re.compile(rf"['\"`*]*({_ID})['\"`*]*(?:\s*[:(]|\s+\[|\s+[-–—]\s)")
_SUBTASK = re.compile(r"(?:\d+(?:\.\d+)+|[A-Z]+-\d+)(?![\w.])")
_SEPARATOR = re.compile(r"[,;]")
_BLOCKER_TYPE = re.compile(r"\W*(dependency|external|fundamental|missing-review)(?![\w-])\W*", re.IGNORECASE)
_LIST = re.compile(r"\[[^\[\]]*\]")
_FIELD = re.compile(r"(?:^|[,;\n])[\s\-*•'\"`]*([A-Za-z][\w -]*?)['\"`*]*\s*:['\"`*]*")
_FIELDS = ("verdict", "approved", "rejected", "anti_patterns")
_PATH = re.compile(r"\$[\w.\[\]]*")
_QUOTED = 80
_EXPECTED = "expected lines such as 'Batch:', 'Review:', 'Passed:', 'Failed:' or a JSON object"


class BatchUnreadable(ValueError):
    """What was reported is no batch result; the message says where, and what was expected."""


def batch_of(raw: bytes) -> BatchResult:
    if raw.lstrip(_BLANK)[:1] in {b"{", b"["}:
        return _of_json(raw)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BatchUnreadable(f"line {line}: expected UTF-8, found the byte {raw[error.start]:#04x}") from error
    return read_batch(text)


def read_batch(text: str) -> BatchResult:
    sections = _sections(text)
    batch, passed = _names(sections.get("batch", ())), _names(sections.get("passed", ()))
    review = _review(sections.get("review", ()))
    known = {*batch, *passed, *(review.approved + review.rejected if review else ())}
    return BatchResult(
        batch=batch,
        review=review,
        passed=passed,
        failed=tuple(Failure(name, rest) for name, rest in _entries(sections.get("failed", ()), known)),
        blocked=tuple(_blocker(name, rest) for name, rest in _entries(sections.get("blocked", ()), known)),
    )


def _of_json(raw: bytes) -> BatchResult:
    """A review that is empty, whatever its type, is none; one word is its verdict."""
    try:
        fields = read_json(raw, dict[str, Any])
    except JsonUnreadable as error:
        where = f"line {error.line}: " if error.line else ""
        raise BatchUnreadable(f"{where}expected a JSON object: {error}") from error
    text = raw.decode("utf-8-sig")
    review = fields.get("review")
    fields["review"] = {"verdict": review} if isinstance(review, str) else review or None
    try:
        result = msgspec.convert(fields, BatchResult)
    except msgspec.ValidationError as error:
        found = _PATH.search(str(error))
        _refuse(line_of(text, found[0] if found else "$"), problem(error))
    verdict = result.review.verdict if result.review else ""
    _check_verdict(verdict, line_of(text, "$.review.verdict"))
    return result


def read_names(line: int, text: str) -> tuple[str, ...]:
    return _names((_BatchLine(line, 0, text),))


def read_entries(line: int, text: str, known: set[str]) -> list[tuple[str, str]]:
    """The ids on one line, each with what is said of it; `known` are the ids told elsewhere."""
    return list(_entries((_BatchLine(line, 0, text),), known))


class _BatchLine(msgspec.Struct):
    """A line of a section, or an entry of one with the lines that go on below it."""

    number: int
    indent: int
    text: str
    bulleted: bool = False


def _sections(text: str) -> dict[str, list[_BatchLine]]:
    """The lines of each section; every line that says something belongs to one."""
    sections: dict[str, list[_BatchLine]] = {}
    current: list[_BatchLine] = []
    number = 1
    for number, raw in enumerate(_NEWLINE.split(text), 1):
        if not raw.strip() or _FENCE.fullmatch(raw):
            continue
        indent = len(raw) - len(raw.lstrip())
        below = any(line.bulleted and line.indent < indent for line in current)
        if found := None if below else _SECTION.fullmatch(raw):
            name = found[1].lower()
            if name == "review" and name in sections:
                _refuse(number, "Review appears twice; expected one review of the batch")
            current = sections.setdefault(name, [])
            current.append(_BatchLine(number, indent, found[2].strip()))
        elif not sections:
            _refuse(number, f"{_EXPECTED}, found {_quote(raw)}")
        else:
            bullet = _BULLET.match(raw)
            current.append(_BatchLine(number, indent, raw[bullet.end() if bullet else 0 :].strip(), bullet is not None))
    if not sections:
        _refuse(number, f"{_EXPECTED}, found nothing")
    return sections


def _names(lines: Iterable[_BatchLine]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for line in lines:
        for word in _SEPARATOR.split(line.text):
            name = word.strip(_QUOTES + "[]")
            if name.lower() in _NOTHING:
                continue
            if not _NAME.fullmatch(name):
                _refuse(
                    line.number,
                    f"{_quote(word)} is not an id; expected ids with commas between them, such as 1.1, 1.2",
                )
            names[name] = None
    return tuple(names)


def _entries(lines: Iterable[_BatchLine], known: set[str]) -> Iterator[tuple[str, str]]:
    entries = _join_lines(lines, known)
    if entries and entries[0].text.startswith("[") and entries[-1].text.rstrip(" ,;").endswith("]"):
        entries[-1].text = entries[-1].text.rstrip(" ,;")[:-1]
        entries[0].text = entries[0].text[1:]
    for entry in entries:
        for text in _split(entry.text.strip(" \t,;"), known):
            if text.lower().strip(_QUOTES) in _NOTHING:
                continue
            found = _ENTRY.fullmatch(text)
            if found is None or found["id"].lower() in _NOTHING:
                _refuse(
                    entry.number,
                    f"{_quote(text)} cannot be read; expected an id and what is said of it, such as 1.2: timed out",
                )
            rest = found["rest"].replace(")", "", 1) if found["mark"] == "(" else found["rest"]
            yield found["id"], rest.lstrip(" \t:-–—=>").rstrip()


def _join_lines(lines: Iterable[_BatchLine], known: set[str]) -> list[_BatchLine]:
    """The entries: below a bullet, or further to the right, what does not begin with an id goes on with the entry above."""
    entries: list[_BatchLine] = []
    for line in lines:
        above = entries[-1] if entries and entries[-1].text else None
        inside = above is not None and line.indent > above.indent
        goes_on = inside and above.bulleted if line.bulleted and above else inside or (above and above.bulleted)
        if above and goes_on and not _begins_entry(line.text, known):
            above.text += f" {line.text}"
        else:
            entries.append(msgspec.structs.replace(line))
    return entries


def _split(text: str, known: set[str]) -> list[str]:
    """The entries of one line: a comma parts two where an id follows it, or where all are mere ids."""
    pieces = _SEPARATOR.split(text)
    if all(_NAME.fullmatch(piece.strip(_QUOTES)) for piece in pieces):
        return [piece.strip() for piece in pieces]
    entries = [pieces[0]]
    place = len(pieces[0])
    for piece in pieces[1:]:
        if _begins_entry(piece.strip(), known) or (not known and _BEGINS_WITH_MARK.match(piece.strip())):
            entries.append(piece)
        else:
            entries[-1] += text[place] + piece
        place += 1 + len(piece)
    return [entry.strip() for entry in entries]


def _begins_entry(text: str, known: set[str]) -> bool:
    """Whether it begins with an id that was told, or else with what only an id looks like."""
    found = _ENTRY.match(text)
    if found and found["id"] in known:
        return True
    if not known and _SUBTASK.match(text):
        return True
    marked = _BEGINS_WITH_MARK.match(text)
    return marked is not None and any(char.isdigit() for char in marked[1])


def _blocker(name: str, rest: str) -> Blocker:
    """A blocker whose type is not said waits for other work: the mildest reading, a person is still asked."""
    kind = _BLOCKER_TYPE.match(rest)
    return Blocker(name, kind[1].lower() if kind else "dependency", rest[kind.end() :] if kind else rest)


def _review(lines: Iterable[_BatchLine]) -> Review | None:
    """A verdict, or fields with commas or line ends between them, in braces or not."""
    parts = [line for line in lines if line.text]
    text = "\n".join(part.text for part in parts)
    if text.lower() in _NOTHING:
        return None
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    numbers = [part.number for part in parts]
    masked = _LIST.sub(lambda found: "[" + "_" * (len(found[0]) - 2) + "]", text)
    keys = list(_FIELD.finditer(masked))
    ends = [*(key.start() for key in keys), len(text)][1:]
    values: dict[str, list[_BatchLine]] = {}
    if lead := text[: keys[0].start() if keys else len(text)].strip(_QUOTES + "\n,;"):
        values["verdict"] = [_BatchLine(numbers[0], 0, lead)]
    for key, end in zip(keys, ends, strict=True):
        name = "_".join(key[1].lower().replace("-", " ").split())
        number = numbers[min(text[: key.start(1)].count("\n"), len(numbers) - 1)]
        if name not in _FIELDS:
            _refuse(number, f"Review has {_quote(key[1])}; expected {', '.join(_FIELDS)}")
        if name in values:
            _refuse(number, f"Review has {name} twice")
        values[name] = [_BatchLine(number, 0, line) for line in text[key.end() : end].split("\n")]
    verdict = " ".join(line.text for line in values.pop("verdict", ())).strip(_QUOTES + ".!,;")
    verdict = "" if verdict.lower() in _NOTHING else verdict
    _check_verdict(verdict, numbers[0])
    return Review(verdict, **{name: _names(found) for name, found in values.items()})


def _check_verdict(verdict: str, line: int) -> None:
    if verdict.strip() and not meaning("verdict", verdict):
        _refuse(line, f"the review's verdict is {_quote(verdict)}; expected APPROVED or CHANGES_REQUESTED")


def _quote(text: str) -> str:
    return repr(text.strip()[:_QUOTED])


def _refuse(line: int, why: str) -> NoReturn:
    raise BatchUnreadable(f"line {line}: {why}" if line else why)
