"""The report object as a claim, read leniently: a field that is wrong is left out and named, the rest is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

import msgspec

from flyball.core.claims import values
from flyball.core.claims.findings import Finding
from flyball.core.text.scrubbing import MAX_TEXT, clean

MAX_REPORT_BYTES = 1024 * 1024
# The journal stores 64-bit whole numbers.
_WHOLE_LIMIT = 2**63
T = TypeVar("T", bound=msgspec.Struct)


class Unusable(msgspec.Struct, frozen=True):
    reason: str


def read_report(raw: bytes, nonce: str, source: values.Source) -> values.Claim | Unusable:
    """The claim in a report, if it is a JSON object with this turn's nonce."""
    if len(raw) > MAX_REPORT_BYTES:
        return Unusable(f"is {len(raw)} bytes long; at most {MAX_REPORT_BYTES} are read")
    try:
        report = msgspec.json.decode(raw.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        return Unusable("is nested too deeply to be read")
    except ValueError as error:
        return Unusable(f"is not valid JSON: {clean(str(error), 200)}")
    if not isinstance(report, dict):
        return Unusable(f"is {_describe(report)}; expected a JSON object")
    if "nonce" not in report:
        return Unusable('carries no "nonce"; put the value of FLYBALL_NONCE there')
    if not nonce or report["nonce"] != nonce:
        return Unusable(f"carries the nonce {_quote(report['nonce'])}, which is not the one of this turn")
    return _claim(_ReportFields(report, "", []), source)


def is_partial(raw: bytes) -> bool:
    """Whether a report says of itself that it holds only what was noted so far."""
    try:
        report = msgspec.json.decode(raw) if len(raw) <= MAX_REPORT_BYTES else None
    except (ValueError, RecursionError):
        return False
    return isinstance(report, dict) and report.get("partial") is True


def _claim(report: _ReportFields, source: values.Source) -> values.Claim:
    claim = values.Claim(
        status=cast("Any", report.word("status")),
        exit_signal=report.flag("exit_signal"),
        summary=report.text("summary"),
        verdict=cast("Any", report.word("verdict")),
        approved=report.texts("approved"),
        rejected=_values(values.Rejection, report.objects("rejected", "id")),
        criteria=_values(values.ClaimedCriterion, report.objects("criteria", "id")),
        left=report.texts("left"),
        findings=tuple(_finding(f) for f in report.objects("findings", "message", "(no message)")),
        earlier=_values(values.EarlierFinding, (f for f in report.objects("earlier", "id") if f.has_flag("gone"))),
        answers=_values(values.FindingAnswer, (f for f in report.objects("answers", "id") if f.has_flag("done"))),
        blockers=tuple(
            _value(values.ClaimedBlocker, f, type=f.word("type", instead="external"))
            for f in report.objects("blockers", "description")
        ),
        questions=tuple(
            _value(values.OpenQuestion, f, default=f.text("default") or None)
            for f in report.objects("questions", "text")
        ),
        protected_changes=_values(values.ProtectedChange, report.objects("protected_changes", "path")),
        decisions=_values(values.DesignDecision, report.objects("decisions", "title")),
        supersedes=tuple(_revision(f) for f in report.objects("supersedes", "id")),
        invalidates=tuple(_revision(f) for f in report.objects("invalidates", "id")),
        metrics=report.metrics(),
        issues=_values(values.ProposedIssue, report.objects("issues", "title")),
        plan=report.text("plan", values.MAX_PLAN),
        business_doc_sync=_value(values.BusinessDocSync, sync)
        if (sync := report.object("business_doc_sync"))
        else None,
        source=source,
    )
    known = (name for name in values.Claim.__struct_fields__ if name != "reviews")
    report.note_unknown(("nonce", "error", "partial", *known))
    return msgspec.structs.replace(claim, problems=tuple(report.problems))


def _finding(fields: _ReportFields) -> Finding:
    # A finding is never lost over a word: what cannot be graded blocks, as a major one does.
    severity = fields.word("severity", instead="major", needed=True)
    words: dict[str, Any] = {
        name: fields.text(name) for name in ("message", "file", "id", "quote", "shows", "criterion")
    }
    return Finding(cast("Any", severity), line=fields.whole("line"), **words)


def _values(kind: type[T], entries: Iterable[_ReportFields]) -> tuple[T, ...]:
    return tuple(_value(kind, each) for each in entries)


def _value(kind: type[T], fields: _ReportFields, **given: object) -> T:
    """A value whose other fields are texts, lists of texts, or truths, each under its own name."""
    readers: dict[object, Callable[[str], object]] = {str: fields.text, bool: fields.flag}
    wanted = [each for each in msgspec.structs.fields(kind) if each.name not in given]
    return kind(**given, **{each.name: readers.get(each.type, fields.texts)(each.name) for each in wanted})


def _revision(fields: _ReportFields) -> values.ClaimedRevision:
    """An object, or its text form: `001-x/3 because …`, `001-x/3 by 7 because …`."""
    named, _, because = fields.text("id").partition(" because ")
    old, _, new = named.partition(" by ")
    return values.ClaimedRevision(
        old.strip(), because.strip() or fields.text("because"), new.strip() or fields.text("by")
    )


class _ReportFields:
    """One object of the report, asked field by field; `where` is its path in the report."""

    def __init__(self, raw: dict[str, Any], where: str, problems: list[str]) -> None:
        self._raw = raw
        self._where = where
        self.problems = problems

    def text(self, name: str, limit: int = MAX_TEXT) -> str:
        value = self._raw.get(name)
        if value is None:
            return ""
        text = _as_text(value)
        if text is None:
            self._note(name, f"is {_describe(value)}; expected text")
            return ""
        return self._shorten(name, text, limit)

    def flag(self, name: str) -> bool:
        value = self._raw.get(name)
        if value is not None and not isinstance(value, bool):
            self._note(name, f"is {_quote(value)}; expected true or false")
        return value is True

    def has_flag(self, name: str) -> bool:
        if self._raw.get(name) is None:
            self._note(name, "is missing; expected true or false")
        return isinstance(self._raw.get(name), bool)

    def whole(self, name: str) -> int:
        value = self._raw.get(name)
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
            self._note(name, f"is {_quote(value)}; expected a line number")
            return 0
        return value

    def word(self, name: str, *, instead: str = "", needed: bool = False) -> str:
        value = self._raw.get(name)
        if value is None and not needed:
            return instead
        known = values.meaning(name, value) if isinstance(value, str) else ""
        if known:
            return known
        taken = f"; taken as {instead}" if instead else ""
        said = "is missing" if value is None else f"is {_quote(value)}"
        self._note(name, f"{said}; expected one of {', '.join(values.EXPECTED[name])}{taken}")
        return instead

    def texts(self, name: str) -> tuple[str, ...]:
        kept = []
        for index, value in enumerate(self._list(name)):
            text = _as_text(value)
            if text is None or not text.strip():
                self._note(f"{name}[{index}]", f"is {_describe(value)}; expected text")
            else:
                kept.append(self._shorten(f"{name}[{index}]", text, MAX_TEXT))
        return tuple(kept)

    def objects(self, name: str, main: str, instead: str = "") -> Iterator[_ReportFields]:
        """The objects of a list; a bare text stands for an object with only its `main` field, which none may lack."""
        for index, value in enumerate(self._list(name)):
            text = _as_text(value)
            raw = {main: text} if text is not None else value
            if not isinstance(raw, dict):
                self._note(f"{name}[{index}]", f"is {_describe(value)}; expected an object")
                continue
            if not clean(_as_text(raw.get(main)) or ""):
                self._note(f"{name}[{index}].{main}", "is missing; it is what the entry is about")
                raw = {**raw, main: instead}
            if raw[main]:
                yield _ReportFields(raw, f"{self._where}{name}[{index}].", self.problems)

    def object(self, name: str) -> _ReportFields | None:
        value = self._raw.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._note(name, f"is {_describe(value)}; expected an object")
            return None
        return _ReportFields(value, f"{name}.", self.problems)

    def metrics(self) -> dict[str, values.Metric]:
        fields = self.object("metrics")
        kept: dict[str, values.Metric] = {}
        for name, value in fields._raw.items() if fields else ():  # noqa: SLF001 - the same class
            words = isinstance(value, list) and value and all(isinstance(word, str) for word in value)
            metric = clean(", ".join(value) if words else value) if words or isinstance(value, str) else value
            if not _is_metric(metric):
                self._note(
                    f"metrics.{clean(name, 80)}",
                    f"is {_describe(value)}; expected a number, text, texts, true or false",
                )
            elif len(kept) >= values.MAX_METRICS:
                self._note("metrics", f"has more than {values.MAX_METRICS} entries; the rest is left out")
                break
            else:
                kept[clean(name, 80)] = metric
        return kept

    def note_unknown(self, known: tuple[str, ...]) -> None:
        unknown = sorted(clean(name, 40) for name in self._raw if name not in known)
        if unknown:
            more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
            self.problems.append(f"fields that are not known and were not read: {', '.join(unknown[:10])}{more}")

    def _list(self, name: str) -> list[Any]:
        value = self._raw.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self._note(name, f"is {_describe(value)}; expected a list")
            return []
        if len(value) > values.MAX_ITEMS:
            self._note(name, f"has {len(value)} entries; only the first {values.MAX_ITEMS} are kept")
        return value[: values.MAX_ITEMS]

    def _shorten(self, name: str, text: str, limit: int) -> str:
        if len(text) > limit:
            self._note(name, f"is {len(text)} characters long; only the first {limit} are kept")
        return clean(text, limit)

    def _note(self, name: str, said: str) -> None:
        self.problems.append(f"{self._where}{name} {said}")


def _as_text(value: object) -> str | None:
    """Text, or a whole number standing for an id; 1.10 would lose its zero as a number, so no fractions."""
    if isinstance(value, str):
        return value
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < _WHOLE_LIMIT
    return str(value) if whole else None


def _is_metric(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) < _WHOLE_LIMIT
    return isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


def _quote(value: object) -> str:
    return repr(clean(value, 60)) if isinstance(value, str) else _describe(value)


def _describe(value: object) -> str:
    """What a JSON value is, in words, with the value where it is short."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {clean(value, 60)!r}"
        case int() if abs(value) >= _WHOLE_LIMIT:
            return "a number too large to keep"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "an object"
