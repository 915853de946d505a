"""What the text of an entry says beside its words: id, labels, files, dependencies, acceptance."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from flyball.core.text.scrubbing import one_line

_NUMBER = r"\d{1,4}(?:\.\d{1,4})*"
_CODE = r"[A-Z][A-Z0-9]{0,9}-\d{1,5}[a-z]?|[A-Z]{1,4}\d{2,5}[a-z]?"
_ID = re.compile(
    rf"(?P<before>[*_`\[(]*)(?:(?P<code>{_CODE})|(?P<number>{_NUMBER}))(?P<after>[*_`\])]*[.):]?[*_`]*:?)(?:\s+|$)"
)
_LABEL = re.compile(r"(?:\[([A-Za-z][\w /-]{0,14})\]|\((P)\))[ \t]*")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_DECORATION = re.compile(r"(?:\s*(?:[✅✔☑]\ufe0f?|[(\[*_]*DONE[)\]*_]*))+\s*$")
_LISTED_ID = rf"(?:{_CODE}|{_NUMBER})(?!\.?[A-Za-z0-9])"
_JOINT = r"\s*(?:,|;|&|and\b|-|–|—|to\b|through\b)\s*"
_DEPENDS = re.compile(
    rf"(?<![A-Za-z])(?:depends?(?:[ _-]on)?|dependency|dependencies|deps|blocked[ _-]by)(?![A-Za-z])[*_`]*\s*(?P<colon>:)?[*_`\s]*"
    rf"(?P<ids>{_LISTED_ID}(?:(?:{_JOINT})+{_LISTED_ID})*)",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"({_LISTED_ID})\s*(?:-|–|—|\bto\b|\bthrough\b)\s*({_LISTED_ID})")
_BACKTICKS = re.compile(r"`([^`\s]+)`")
_BARE_PATH = re.compile(
    r"(?<![\w/.:@-])((?:\.{1,2}/)?(?:[\w@.+-]+|\[[\w.]+\]|\([\w.]+\))(?:/(?:[\w@.+-]+|\[[\w.]+\]|\([\w.]+\)))*/?)"
)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_KNOWN_EXTENSIONS = frozenset(
    "py pyi ts tsx js jsx mjs cjs json yaml yml toml md mdx rst txt html css scss less vue svelte go rs java kt kts scala swift c h "
    "cc cpp hpp cs fs rb php pl lua r sql sh bash zsh ps1 bat ini cfg conf env xml proto graphql prisma tf lock gradle dart ex exs "
    "erl hs ml clj astro ipynb csv dockerfile makefile svg".split()
)
_NOT_FILES = frozenset(
    {"node.js", "next.js", "vue.js", "nuxt.js", "express.js", "three.js", "d3.js", "react.js", "p5.js", "chart.js"}
)
_FIELD = re.compile(
    r"\s*(?:[—–|-]|\|)?\s*[`*_]*\b(files|acceptance(?: criteria)?|depends_on|scaffold)[`*_]*:[`*_]*\s*", re.IGNORECASE
)
_DETAIL_FIELD = re.compile(r"[`*_]*(files|depends_on|scaffold)[`*_]*:[`*_]*\s*(.*)", re.IGNORECASE)
_YES = re.compile(r"(?:true|yes|1)\b", re.IGNORECASE)
_FIRST_FIELD = re.compile(r"[—–-]\s*[`*_]*Files:", re.IGNORECASE)
_REFERENCE = re.compile(r"_?(?:Requirements?|Depends|Boundary)\b[^:]*:", re.IGNORECASE)
_ACCEPTANCE = re.compile(
    r"[*_`]*(?:acceptance(?: criteria)?|done when|verify|verification|test)[*_`]*\s*:[*_`]*\s*(.+)", re.IGNORECASE
)
_ANNOUNCEMENT = re.compile(r"[*_`]*(?:acceptance(?: criteria)?|done when)[*_`]*:?[*_`]*", re.IGNORECASE)
_REQUIREMENT = re.compile(r"#{2,4}\s+Requirement\s+(\d+)\b", re.IGNORECASE)
_CRITERION = re.compile(r"\s{0,3}(\d{1,3})[.)]\s+(\S.*)")


class Wording(msgspec.Struct, frozen=True):
    """An entry's text taken apart; `labels` are those in brackets after the id."""

    text: str
    id: str = ""
    labels: tuple[str, ...] = ()
    fields: dict[str, str] = {}


def take_apart(text: str, *, numbers: bool, labels: bool) -> Wording:
    """The id an entry begins with, its labels and its words; `numbers`: a bare number is an id too."""
    text = _DECORATION.sub("", one_line(_COMMENT.sub(" ", text)))
    found: list[str] = []
    id, rest = _id(text, numbers=numbers)
    while labels and (label := _LABEL.match(rest)):
        found.append(label[1] or label[2])
        rest = rest[label.end() :]
        if not id:
            id, rest = _id(rest, numbers=numbers)
    name, fields = _fields(rest)
    return Wording(name.strip(), id, tuple(found), fields)


def _id(text: str, *, numbers: bool) -> tuple[str, str]:
    found = _ID.match(text)
    if found is None:
        return "", text
    marked = bool(found["before"]) or bool(found["after"])
    if found["number"] and not (numbers or marked or "." in found["number"]):
        return "", text
    return found["code"] or found["number"], text[found.end() :]


def _fields(text: str) -> tuple[str, dict[str, str]]:
    """The name and the fields of an entry in the grammar of plan.md: `name — Files: … | Acceptance: …`."""
    if "|" not in text and not _FIRST_FIELD.search(text):
        return text, {}
    parts = _FIELD.split(text)
    if len(parts) < 3:
        return text, {}
    values = (value.strip(" |`") for value in parts[2::2])
    return parts[0], {name.casefold().split()[0]: value for name, value in zip(parts[1::2], values, strict=True)}


def files_in(text: str) -> tuple[str, ...]:
    """The paths a text names: those with an extension or a slash at the end, in backticks or bare."""
    quoted = _BACKTICKS.findall(text)
    bare = _BARE_PATH.findall(_BACKTICKS.sub(" ", text))
    paths = [path for path in quoted if _is_path(path, known=False)]
    paths += [path for word in bare if _is_path(path := word.rstrip(".,:;"), known=True)]
    return tuple(dict.fromkeys(path.removeprefix("./") for path in paths))


def outside_in(wording: Wording, details: Iterable[str]) -> Iterator[str]:
    lists = _values_of("files", wording, details)
    words = (word.strip("`*_\"'[]()") for value in lists for word in re.split(r"[,;\s]+", value))
    return (word for word in words if is_outside(word))


def _values_of(field: str, wording: Wording, details: Iterable[str]) -> Iterator[str]:
    yield wording.fields.get(field, "")
    for detail in details:
        found = _DETAIL_FIELD.match(detail)
        if found and found[1].casefold() == field:
            yield found[2]


def is_outside(path: str) -> bool:
    """Whether a path leads out of the repository it is written from."""
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in {"", "."}
        if depth < 0:
            return True
    return path.startswith(("/", "~/")) and len(path) > 1


def _is_path(path: str, *, known: bool) -> bool:
    """Whether a word is a path; a bare one without a slash needs an extension that programs use."""
    if path.startswith(("/", "../", "~", "-")) or "://" in path or re.search(r"[*?<>{}=,;|$\"'()](?!.*/)", path):
        return False
    if path.endswith("/"):
        return len(path) > 1 and not path.endswith("//")
    extension = _EXTENSION.search(path.rpartition("/")[2])
    if extension is None or path.casefold() in _NOT_FILES:
        return False
    return "/" in path or extension[0][1:].casefold() in _KNOWN_EXTENSIONS or (not known and path.startswith("."))


class Wanted(msgspec.Struct, frozen=True):
    """Dependencies as a text names them: single ids, and ranges by their two ends. A `loose` one may be a number in a sentence."""

    ids: tuple[str, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()
    loose: frozenset[str] = frozenset()


def dependencies_in(texts: Iterable[str]) -> Wanted:
    ids: list[str] = []
    ranges: list[tuple[str, str]] = []
    loose: set[str] = set()
    for text in texts:
        for found in _DEPENDS.finditer(text):
            listed = found["ids"]
            ranges += _RANGE.findall(listed)
            single = re.findall(_LISTED_ID, _RANGE.sub(" ", listed))
            ids += single
            loose |= {each for each in single if each.isdecimal() and not found["colon"]}
    return Wanted(tuple(dict.fromkeys(ids)), tuple(ranges), frozenset(loose))


def acceptance_in(details: Iterable[str]) -> tuple[str, ...]:
    """The points below an entry, without the word that announces them and without lines that are only references."""
    found = []
    for detail in details:
        if _REFERENCE.match(detail) or _DETAIL_FIELD.match(detail):
            continue
        announced = _ACCEPTANCE.fullmatch(detail)
        point = announced[1] if announced else detail
        if not _ANNOUNCEMENT.fullmatch(point):
            found.append(point)
    return tuple(found)


def names_fields(wording: Wording, details: Iterable[str]) -> bool:
    """Whether an entry is written in the grammar of plan.md, in which only `depends_on` makes an order."""
    return bool(wording.fields) or any(_DETAIL_FIELD.match(detail) for detail in details)


def is_scaffold(wording: Wording, details: Iterable[str]) -> bool:
    return any(map(_YES.match, _values_of("scaffold", wording, details)))


def references_in(details: Iterable[str], name: str) -> tuple[str, ...]:
    """The numbers after `_Requirements: 1.1, 2.3–2.5_`, ranges counted out."""
    found: list[str] = []
    for detail in details:
        match = re.search(rf"(?<![A-Za-z]){name}s?\b[^:]*:\s*([\d.,\s–—-]+)", detail, re.IGNORECASE)
        for one, other in re.findall(r"(\d+(?:\.\d+)*)(?:\s*[-–—]\s*(\d+(?:\.\d+)*))?", match[1] if match else ""):
            found += _range(one, other) if other else [one]
    return tuple(dict.fromkeys(found))


def _range(one: str, other: str) -> list[str]:
    stem, _, first = one.rpartition(".")
    same, _, last = other.rpartition(".")
    if stem != same or not 0 <= int(last) - int(first) <= 50:
        return [one, other]
    return [f"{stem}.{number}" if stem else str(number) for number in range(int(first), int(last) + 1)]


def requirement_criteria(text: str) -> dict[str, str]:
    """The criteria of a Kiro requirements.md by their numbers: `1.2` is the second criterion of the first requirement."""
    found: dict[str, str] = {}
    requirement = ""
    for line in text.split("\n"):
        if heading := _REQUIREMENT.match(line):
            requirement = heading[1]
        elif requirement and (criterion := _CRITERION.fullmatch(line)):
            found.setdefault(f"{requirement}.{criterion[1]}", criterion[2].strip())
    return found
