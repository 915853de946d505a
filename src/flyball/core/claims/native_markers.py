"""Ways of reporting that other loops teach agents, who then know no report file: status block, promise, lines, mappings.

None of them carries a nonce, so they count only in the agent's own prose and only where they echo nothing.
"""

import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, cast

import msgspec

from flyball.core.claims import status_block
from flyball.core.claims.decisions_section import read_decisions
from flyball.core.claims.status_block import as_value
from flyball.core.claims.status_fields import BrokenBlock, StatusBlock
from flyball.core.claims.values import CAUTION, MAX_ITEMS, Claim, ClaimedBlocker, Metric, OpenQuestion, meaning
from flyball.core.text.fences import Message
from flyball.core.text.scrubbing import clean

MAX_VALUES = 200
MAX_LINES = 400

_HEADER = re.compile(r"( {0,3})([A-Z]+_PHASE_METRICS|QA_VALIDATION_METRICS):\s*")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_REAL = re.compile(r"[+-]?[0-9]{1,15}\.[0-9]{1,15}(?:[eE][+-]?[0-9]{1,3})?")


class PhaseMetrics(msgspec.Struct, frozen=True):
    """One mapping: nested keys are joined by dots, lists by commas; `text` is the mapping as it stands."""

    name: str
    values: dict[str, Metric]
    text: str
    problems: tuple[str, ...] = ()


def parse_metrics(text: str) -> tuple[PhaseMetrics, ...]:
    """Every mapping of the text, in order; one that is no YAML is noted and left out."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        header = _HEADER.fullmatch(line.rstrip())
        if header:
            later = range(number + 1, min(len(lines), number + 1 + MAX_LINES))
            outside = (n for n in later if lines[n].strip() and _indent(lines[n]) <= len(header[1]))
            found.append(_mapping(header[2], "\n".join(lines[number : next(outside, later.stop)]).rstrip()))
    return tuple(found)


def _mapping(name: str, text: str) -> PhaseMetrics:
    import yaml  # noqa: PLC0415 - few messages have metrics

    try:
        found = yaml.load(text.expandtabs(4), Loader=yaml.BaseLoader)  # noqa: S506 - builds texts, lists and mappings alone
        values = dict(islice(_flat("", found[name] or {}), MAX_VALUES))
    except (yaml.YAMLError, ValueError, TypeError, KeyError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1} of it" if mark else ""
        return PhaseMetrics(name, {}, text, (f"{name} is not YAML{where}; expected `key: value` lines",))
    return PhaseMetrics(name, values, text)


def _flat(path: str, value: object) -> Iterator[tuple[str, Metric]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}" if path else as_value(str(key)), inner)
    elif (
        metric := scalar(as_value(", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    ) is not None:
        yield path, metric


def scalar(text: str) -> Metric | None:
    """A bare value as it was meant: lowercase booleans, numbers, else text; nothing for an empty one or null."""
    if text in {"", "null", "~"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


Echoed = Callable[[str], bool]

_PROMISE = re.compile(r" {0,3}<promise>\s*([A-Za-z0-9_ -]{1,60}?)\s*</promise>\s*")
_LINE = re.compile(r" {0,3}(?:#{1,6} +|[-*+] +)?(Status|Verdict) *: *(\S.*)")
_WORD = re.compile(r"[^\w]*([A-Za-z][A-Za-z_ -]*?)[\s`.!]*(?:(?:[:;,(–—]|(?<=\s)-\s)[\s]*(.*))?")
_QUESTIONS = re.compile(r" {0,3}(?:#{1,6} +)?Questions *: *(.*)")
_BULLET = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+(.*)")
# Each marker may cost a search of the whole tree, so only the last ones are looked at.
_LAST = 20
_LONGEST_LINE = 2000


def read_native(message: Message, *, echoed: Echoed) -> Claim:
    """The claim the markers of a message make together; where they disagree, the least favourable word stands."""
    reading = _Reading(echoed)
    reading.block(message)
    # The lines outside every status block, a broken one included: its keys are not lines of their own.
    prose: list[str] = []
    inside = False
    for line in message.prose.split("\n"):
        mark = line.strip()
        inside = (inside or mark == status_block.BEGIN) and mark != status_block.END
        prose.append("" if inside or mark == status_block.END else line[:_LONGEST_LINE])
    reading.lines(prose)
    reading.metrics_of(prose)
    reading.decisions(prose)
    return reading.claim()


class _Reading:
    def __init__(self, echoed: Echoed) -> None:
        self._echoed = echoed
        self._said: dict[str, list[str]] = {"status": [], "verdict": []}
        self._values: dict[str, Any] = {}
        self._blockers: list[str] = []
        self._metrics: dict[str, Metric] = {}
        self._problems: list[str] = []
        self._found = False

    def block(self, message: Message) -> None:
        block = status_block.parse(message.prose)
        if block is None:
            if any(status_block.BEGIN in fence.text for fence in message.fences):
                self._problems.append("a status block inside a code fence does not count; print it outside")
        elif isinstance(block, BrokenBlock):
            self._problems.append(f"the status block is broken at line {block.line} of the message: {block.reason}")
        elif self._own(status_block.last_block_text(message.prose), "the status block"):
            self._say("status", meaning("status", block.status or ""))
            if block.verdict:
                self._say("verdict", meaning("verdict", block.verdict), unknown=f"VERDICT: {block.verdict}")
            self._values["exit_signal"] = block.exit_signal
            self._values["summary"] = clean(block.recommendation)
            self._blockers += block.blockers
            self._metrics.update(_numbers(block))
            self._problems += [f"status block: {deviation}" for deviation in status_block.deviations(block)]

    def lines(self, prose: list[str]) -> None:
        promises = [match for match in map(_PROMISE.fullmatch, prose) if match]
        for match in promises[-_LAST:]:
            text = match[0].strip()
            if self._own(text, text):
                self._say("status", meaning("promise", match[1]), unknown=text)
        matches = [match for match in map(_LINE.fullmatch, (line.replace("**", "") for line in prose)) if match]
        for match in matches[-_LAST:]:
            text = match[0].strip()
            if self._own(text, text):
                self._take_line(match[1].lower(), match[2], text)
        if "needs_clarification" in self._said["status"]:
            self._values["questions"] = tuple(OpenQuestion(text) for text in _questions(prose))

    def _take_line(self, kind: str, value: str, text: str) -> None:
        match = _WORD.fullmatch(value.strip()[:300])
        word, reason = (match[1], match[2] or "") if match else ("", "")
        other = "verdict" if kind == "status" else "status"
        if not meaning(kind, word) and meaning(other, word):
            kind = other
        known = meaning(kind, word)
        self._say(kind, known, unknown=text)
        if known == "blocked" and reason.strip():
            self._blockers.append(reason)

    def metrics_of(self, prose: list[str]) -> None:
        for mapping in parse_metrics("\n".join(prose))[-_LAST:]:
            if self._own(mapping.text, mapping.name):
                self._found = True
                for name, value in mapping.values.items():
                    self._metrics[clean(name, 80)] = clean(value) if isinstance(value, str) else value
                self._problems += mapping.problems

    def decisions(self, prose: list[str]) -> None:
        section = read_decisions(prose)
        if section.decisions and self._own(section.text, "the Decisions section"):
            self._found = True
            self._values["decisions"] = section.decisions[:MAX_ITEMS]

    def claim(self) -> Claim:
        if not self._found:
            return Claim(problems=tuple(self._problems))
        words = {kind: self._least_favourable(kind) for kind in self._said}
        blockers = tuple(ClaimedBlocker("external", clean(text)) for text in dict.fromkeys(self._blockers))[:MAX_ITEMS]
        return Claim(
            **cast("dict[str, Any]", words),
            **self._values,
            blockers=blockers,
            metrics=self._metrics,
            source="native",
            problems=tuple(self._problems),
        )

    def _say(self, kind: str, known: str, unknown: str = "") -> None:
        if known:
            self._found = True
            self._said[kind].append(known)
        elif unknown:
            self._problems.append(f"{clean(unknown, 120)!r} is not understood, so it does not count")

    def _least_favourable(self, kind: str) -> str:
        said = self._said[kind]
        taken = next((word for word in CAUTION[kind] if word in said), "")
        if len(set(said)) > 1:
            self._problems.append(
                f"the markers disagree on the {kind} ({', '.join(dict.fromkeys(said))}); taken as {taken}"
            )
        return taken

    def _own(self, text: str, name: str) -> bool:
        """Whether these are the agent's own words; an echo is noted."""
        if not self._echoed(text):
            return True
        self._problems.append(
            f"{clean(name, 120)} appears word for word in the prompt or the tree, so it does not count"
        )
        return False


def _numbers(block: StatusBlock) -> Iterator[tuple[str, Metric]]:
    for prefix, section in (("tests_", block.tests), ("files_", block.files), ("", block.qa_metrics)):
        for name, value in msgspec.structs.asdict(section).items() if section else ():
            yield f"{prefix}{name}", value
    if block.patterns_applied:
        yield "patterns_applied", clean(", ".join(block.patterns_applied))


def _questions(prose: list[str]) -> Iterator[str]:
    """The list under `Questions:`, or what stands beside it."""
    start = next((n for n, line in enumerate(prose) if _QUESTIONS.fullmatch(line.replace("**", ""))), None)
    if start is None:
        return
    beside = _QUESTIONS.fullmatch(prose[start].replace("**", ""))
    if beside and beside[1].strip():
        yield clean(beside[1])
    for line in prose[start + 1 : start + 1 + MAX_ITEMS]:
        bullet = _BULLET.fullmatch(line)
        if bullet is None and line.strip():
            return
        if bullet and bullet[1].strip():
            yield clean(bullet[1])
