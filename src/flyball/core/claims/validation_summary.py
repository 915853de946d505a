"""Reads what validators say: the markdown summary of each kind of review, or the report object, as validations."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec

from flyball.core.claims.critical_words import critical_columns, labels_critical
from flyball.core.claims.report_object import Unusable, read_report
from flyball.core.claims.reviews import Result, Validation
from flyball.core.claims.values import Claim, meaning
from flyball.core.text.fences import split_fences
from flyball.core.text.scrubbing import clean
from flyball.core.text.strict_json import JsonUnreadable, read_json

_HEADING = re.compile(r"#{1,6}[ \t]+(\S.*)")
_FIELD = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\**([A-Za-z][A-Za-z ]{0,40}?)(?::\**|\**[ \t]*:\**)[ \t]*(.*)")
_RESULT = re.compile(
    r"(?i)[\s>#*+|_-]*(?:(?:overall|final)[ \t]+)?(?:result|verdict)[ \t*_|]*(?:[:=|\u2013\u2014]|[ \t]-[ \t])[ \t*_|]*(\S.*)"
)
_COUNT = re.compile(
    r"\b([A-Za-z]+)\**(?:[ \t]+(?:findings?|issues?|problems?))?[ \t]*+[:=(\[|x\u00d7\u2013\u2014-]*[ \t*_`|]*([0-9]{1,6})\b(?!\.?\w)"
    r"|\b([0-9]{1,6})[ \t]*[x\u00d7]?[ \t*_`]*([A-Za-z]+)\b"
)
_NO_CRITICAL = re.compile(
    r"(?i)\b(?:no|none|zero|nothing|without|not?)\b[^.;,]*\bcritical|\bcritical\b[^.;,]*\b(?:none|no|zero|n/a)\b"
)
# A bare number counts only where an entry begins: titles speak of UTF-8 and SHA-256.
_CREATED = re.compile(
    r"(?:(?<!\w)([A-Za-z]\w*(?:-\w+)+@[\w-]+)|^[ \t]*(?:[-*+][ \t]+)?[*`]*([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-[0-9]+)\b(?!@))"
    r"[*`]*[ \t]*(?:\(([^)]*)\))?",
    re.ASCII,
)
_PATH = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,7})(?::[0-9]+)?")
_CVSS = re.compile(r"CVSS[ \t:v0-9.]*?([0-9]{1,2}(?:\.[0-9])?)[ \t]*$", re.IGNORECASE)
_SEVERITIES = frozenset({"critical", "major", "minor", "suggestion"})
_CVSS_CRITICAL = 9.0
_FIELDS = frozenset({"result", "findings", "issues created"})
# Whether a summary is an echo may cost a search of the whole tree, so only the last ones are looked at.
_LAST = 8
_LONGEST_LINE = 500


class NoSummary(msgspec.Struct, frozen=True):
    """Why a text says nothing that counts as a validation; line 0 is the text as a whole."""

    line: int
    message: str


def read_validations(text: str, file: str) -> tuple[Validation, ...] | NoSummary:
    """The validations in a file: JSON where it begins like it, else every `## <Kind> Summary` outside code fences."""
    bare = text.removeprefix("\ufeff")
    read: Iterable[Validation | NoSummary]
    if bare.lstrip()[:1] in ("{", "["):
        read = _from_json(bare, file)
    else:
        lines = split_fences(bare).prose.split("\n")
        read = [_summary(lines[start + 1 : end], start + 1, name, file) for start, end, name in _sections(lines)]
        read = read or [NoSummary(0, "no `## … Summary` with a `**Result:**`; expected a validator's summary")]
    found: list[Validation] = []
    for each in read:
        if isinstance(each, NoSummary):
            return each
        found.append(each)
    return tuple(found)


def kind_of(file: str) -> str:
    """The kind of review a file's name says: `validation-security-audit.json` is a security audit."""
    stem = file.rpartition("/")[2].partition(".")[0]
    words = re.sub(r"^(?:validation|report)[-_]|[-_](?:report|summary)$", "", stem)
    return " ".join(re.split(r"[-_\s]+", words)).strip().lower() or "validation"


def consistent(given: Validation) -> Validation:
    """A validation whose counts outweigh its word: with a critical finding it failed, and in a security audit it blocks."""
    if not any(count for name, count in given.findings.items() if meaning("severity", name) == "critical"):
        return given
    security = given.critical_security or _is_security(given.kind)
    return msgspec.structs.replace(given, result="fail", critical_security=security)


def own_summaries(prose: str, echoed: Callable[[str], bool]) -> tuple[tuple[Validation, ...], tuple[str, ...]]:
    """The summaries in a validator's prose that are its own words, and a sentence on each that only repeats what was there.

    What is asked about reaches from the heading to the last field that counts: words of its own around a quoted summary
    do not make it a verdict.
    """
    found: list[Validation] = []
    echoes: list[str] = []
    lines = [line[:_LONGEST_LINE] for line in prose.split("\n")]
    for start, end, kind in _sections(lines)[-_LAST:]:
        below = lines[start + 1 : end]
        read = _summary(below, start + 1, kind, "validation")
        if isinstance(read, NoSummary):
            continue
        last = max(number for number, name, _ in _fields(below) if name in _FIELDS)
        if echoed("\n".join(lines[start : start + last + 2])):
            echoes.append(
                f"the {_kind(kind)} summary appears word for word in the prompt or the tree, so it does not count"
            )
        else:
            found.append(read)
    return tuple(found), tuple(echoes)


def _sections(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Each heading of a summary: its line, the line after its section, and the kind it names."""
    starts = [(n, kind) for n, line in enumerate(lines) if (kind := _heading_kind(line))]
    ends = [*(start for start, _ in starts[1:]), len(lines)]
    return [(start, end, kind) for (start, kind), end in zip(starts, ends, strict=False)]


def _heading_kind(line: str) -> str:
    found = _HEADING.fullmatch(line.rstrip(" \t#:\r\n")) if line.startswith("#") else None
    if found is None or not found[1].lower().endswith("summary"):
        return ""
    kind = found[1][: -len("summary")]
    return kind.strip() if kind[-1:].isspace() else ""


def of_claim(claim: Claim, kind: str, file: str = "validation", created: Sequence[str] = ()) -> Validation | NoSummary:
    """A report object as a validation; findings that block, or being blocked, outweigh a verdict that says all is well."""
    counts = dict(Counter[str](finding.severity for finding in claim.standing))
    blocking = bool(counts.get("critical") or counts.get("major") or claim.rejected)
    if not claim.verdict and not blocking:
        return NoSummary(0, "no verdict; expected pass, warn or fail")
    said: Result = claim.verdict or "fail"
    contradicted = (said == "pass" and blocking) or bool(counts.get("critical")) or claim.status == "blocked"
    critical = next((f.file or f.message for f in claim.standing if f.severity == "critical"), "")
    name = _kind(kind)
    return Validation(
        kind=name,
        result="fail" if contradicted else said,
        findings=counts,
        created=(*created, *(issue.title for issue in claim.issues)),
        critical_security=_is_security(name) and bool(counts.get("critical")),
        critical_in=critical if _is_security(name) else "",
        file=file,
    )


def _summary(lines: Sequence[str], first: int, kind: str, file: str) -> Validation | NoSummary:
    name, fields = _kind(kind), list(_fields(lines))
    results = [n for n, line in enumerate(lines) if _RESULT.fullmatch(line.rstrip())]
    said = next(((n, value) for n, field, value in fields if field == "result"), None)
    if said is None:
        return NoSummary(first, f"the {name} has no `**Result:**`; expected pass, warn or fail")
    if len(results) > 1:
        places = ", ".join(str(first + n + 1) for n in results)
        return NoSummary(first + results[1] + 1, f"the {name} gives its result {len(results)} times (lines {places})")
    word = meaning("verdict", re.sub(r"[^\w\s?-]", "", said[1]))
    if not word:
        return NoSummary(first + said[0] + 1, f"Result is {clean(said[1], 60)!r}; expected pass, warn or fail")
    counts = _counts(lines, fields)
    unclear = _unclear(lines, fields, counts)
    if unclear:
        message = f"the {name} says {unclear!r}, which gives no number; write `Critical: 0`"
        return NoSummary(first + said[0] + 1, message)
    created = list(_created_ids(lines, fields))
    critical = _is_security(kind) and bool(counts.get("critical") or any(grave for _, grave in created))
    return Validation(
        kind=name,
        result=cast("Result", "fail" if counts.get("critical") else word),
        findings=counts,
        created=tuple(dict.fromkeys(id for id, _ in created)),
        critical_security=critical,
        critical_in=_critical_place(lines) if critical else "",
        file=file,
    )


def _fields(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines):
        found = _FIELD.fullmatch(line.rstrip())
        if found is not None:
            yield number, found[1].strip().lower(), found[2].strip("* \t")


def _below(lines: Sequence[str], fields: Sequence[tuple[int, str, str]], name: str) -> list[str]:
    """A field's own line and the bullets or indented lines straight below it."""
    start = next((number for number, field, _ in fields if field == name), None)
    if start is None:
        return []
    found = [lines[start].partition(":")[2]]
    for line in lines[start + 1 :]:
        if line.strip() and not re.match(r"[ \t]+\S|[ \t]*[-+*][ \t]", line):
            break
        found.append(line)
    return found


def _counts(lines: Sequence[str], fields: Sequence[tuple[int, str, str]]) -> dict[str, int]:
    """Findings by severity; a critical one counts wherever in the summary its number stands."""
    counts: dict[str, int] = {}
    for severity, number in _numbers(_below(lines, fields, "findings")):
        counts[severity] = counts.get(severity, 0) + number
    grave = max(
        (*(number for severity, number in _numbers(lines) if severity == "critical"), *critical_columns(lines)),
        default=0,
    )
    return {**counts, "critical": max(grave, counts.get("critical", 0))} if grave else counts


def _numbers(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    for found in (match for line in lines for match in _COUNT.finditer(line)):
        word, number = (found[1], found[2]) if found[1] else (found[4], found[3])
        severity = meaning("severity", word) or meaning("severity", word.removesuffix("s"))
        if severity in _SEVERITIES:
            yield severity, int(number)


def _unclear(lines: Sequence[str], fields: Sequence[tuple[int, str, str]], counts: dict[str, int]) -> str:
    """The line that speaks of critical findings and says neither how many nor that there are none."""
    if counts.get("critical"):
        return ""
    findings = [] if "critical" in counts else _below(lines, fields, "findings")
    created = tuple(line for line in _below(lines, fields, "issues created") if line.strip())
    spoken = [line for line in findings if re.search(r"(?i)\bcriticals?\b", line)]
    labelled = [line for number, line in enumerate(lines) if labels_critical(lines, number)]
    grave = (line for line in (*spoken, *labelled) if not line.endswith(created) and not _NO_CRITICAL.search(line))
    for line in grave:
        if all(severity != "critical" for severity, _ in _numbers([line, line.partition(":")[2]])):
            return clean(line, 80).strip()
    return ""


def _created_ids(lines: Sequence[str], fields: Sequence[tuple[int, str, str]]) -> Iterator[tuple[str, bool]]:
    """Ids under `Issues Created`, and whether the words in brackets make one critical."""
    for line in _below(lines, fields, "issues created"):
        for found in _CREATED.finditer(line):
            note = found[3] or ""
            score = _CVSS.search(note)
            yield found[1] or found[2], "critical" in note.lower() or bool(score and float(score[1]) >= _CVSS_CRITICAL)


def _critical_place(lines: Sequence[str]) -> str:
    paths = (_PATH.search(line) for line in lines if "critical" in line.lower())
    return next((path[1] for path in paths if path), "")


def _from_json(text: str, file: str) -> list[Validation | NoSummary]:
    try:
        decoded = read_json(text.encode("utf-8", "replace"), object)
    except JsonUnreadable as error:
        return [NoSummary(0, f"not valid JSON ({clean(str(error), 120)}); expected a report object or a summary")]
    entries = decoded if isinstance(decoded, list) else [decoded]
    found = [_from_object(entry, file) for entry in entries]
    return found or [NoSummary(0, "an empty list; expected at least one report object")]


def _from_object(entry: Any, file: str) -> Validation | NoSummary:
    if not isinstance(entry, dict):
        return NoSummary(0, "an entry that is not an object; expected a report object")
    given = (entry[key] for key in ("kind", "role", "subagent") if isinstance(entry.get(key), str))
    named = next(given, kind_of(file))
    if isinstance(entry.get("findings"), dict):  # counts of findings instead of the findings
        try:
            return consistent(msgspec.convert({**entry, "kind": _kind(named), "file": file}, Validation))
        except msgspec.ValidationError as error:
            return NoSummary(0, f"no summary ({error}); expected kind, result and findings by severity")
    report = {**entry, "nonce": "-"}
    said = {meaning("verdict", entry[key]) for key in ("verdict", "result") if isinstance(entry.get(key), str)}
    if len(said) > 1:
        return NoSummary(0, "verdict and result say different things; expected one of them")
    if "verdict" not in report and isinstance(report.get("result"), str):
        report["verdict"] = report["result"]
    claim = read_report(msgspec.json.encode(report), "-", "report-file")
    if isinstance(claim, Unusable):
        return NoSummary(0, f"the report {claim.reason}")
    created = entry.get("issues_created")
    ids = [id for id in created if isinstance(id, str)] if isinstance(created, list) else []
    return of_claim(claim, named, file, ids)


def _kind(name: str) -> str:
    return " ".join(re.split(r"[-_\s]+", name.strip("*_` "))).lower()


def _is_security(kind: str) -> bool:
    return "security" in kind.lower()
