"""The rules of product.md as a checklist: each matched by tests that name it and use its numbers, or named as uncovered."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
from flyball.measures.evaluators.product.rule_tests import RuleTest

_RULE = re.compile(r"^\s*(?:[-*+]|\d+[.)]|\||#+)?\s*\**(?P<id>[A-Z]{1,8}-?\d{1,4})\**\s*[:|.)—–-]+\s*(?P<text>\S.*)$")
_LIMIT_BEFORE = re.compile(
    r"\b(?:at most|at least|above|below|more than|less than|fewer than|older than|younger than|longer than|shorter than|under|over|up to|"
    r"maximum|minimum|max|min|within|valid for|exceed\w*|between)\b[^,;:.()]{0,24}$|\b(?:from|until|after|only)\s+$",
    re.IGNORECASE,
)
_LIMIT_AFTER = re.compile(r"^[^,;:.()]{0,24}?\b(?:or (?:more|less|fewer|older|younger|longer)|and (?:more|over|above))\b", re.IGNORECASE)  # fmt: skip
_WORDS = {word: float(number) for number, word in enumerate("three four five six seven eight nine ten eleven twelve".split(), start=3)}  # fmt: skip
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b", re.IGNORECASE)
_OF_TEXT = re.compile(r"\b(?:characters?|letters?|digits?|signs?|symbols?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?![\w])(\s*%)?")
_REFERENCE = re.compile(r"(?:\b(?:ISO|RFC|EN|DIN|section|chapter|article|paragraph|page|step|phase|version|rule|no\.|since|in)|[§#(])\s*$", re.IGNORECASE)  # fmt: skip
_STOP = frozenset(
    "a an and are as at be by for from has have in is it its of on or per than that the their to was with every each".split()
)
ENOUGH = 0.7
TRIVIAL = 2
"""Numbers up to this one stand in every code."""
_UNITS = (
    (re.compile(r"second|minute|hour|day|week|month|year", re.IGNORECASE), (7, 12, 24, 60, 1000, 3600, 86400)),
    (re.compile(r"\bEUR\b|\bUSD\b|euro|dollar|cent|pound|[€$£]", re.IGNORECASE), (100,)),
    (re.compile(r"\b[KMG]i?B\b|byte", re.IGNORECASE), (1000, 1024, 1024**2)),
)
"""Other units code may count in, for rules that speak of time, money or size."""
_DATA = (".sql", ".json", ".toml", ".yaml", ".yml")
_IN_CODE = re.compile(r"(?<![\w.])(\d[\d_]*(?:\.\d+)?)(?![\w.]*\w)")


class ProductRule(msgspec.Struct, frozen=True):
    id: str
    text: str
    line: int

    @property
    def numbers(self) -> tuple[tuple[float, bool], ...]:
        """The numbers of the rule, each with whether it is a percentage."""
        return tuple((float(each[1].replace(",", ".")), bool(each[2])) for each in self._figures())

    def _figures(self) -> Iterator[re.Match[str]]:
        """Every number that says how much: no year, and no number of a section or a standard."""
        for each in _NUMBER.finditer(self.text):
            named = _REFERENCE.search(self.text[: each.start()])
            if not (
                named
                and (each[1] in map(str, range(1900, 2100)) or named[0].strip().lower() not in ("in", "since", "("))
            ):
                yield each

    @property
    def limits(self) -> tuple[float, ...]:
        """Those numbers of the rule that part what is allowed from what is not."""
        return tuple(float(each[1].replace(",", ".")) for each in self._figures() if not each[2] and self._parts(each))

    @property
    def spelt_limits(self) -> tuple[float, ...]:
        """Those that the rule writes as words. Which values try them is not asked: words often count what no test repeats."""
        return tuple(_WORDS[each[1].lower()] for each in _WORD.finditer(self.text) if self._parts(each))

    def _parts(self, number: re.Match[str]) -> bool:
        before, after = self.text[: number.start()], self.text[number.end() :]
        return bool(_LIMIT_BEFORE.search(before) or _LIMIT_AFTER.search(after))

    @property
    def is_of_text(self) -> bool:
        """Whether its numbers count characters."""
        return bool(_OF_TEXT.search(self.text))

    @property
    def name(self) -> str:
        return self.id or f"“{self.text[:50]}”"


def product_rules(text: str) -> tuple[ProductRule, ...]:
    """The rules with an id, and the items of a list below a heading that speaks of rules."""
    found: list[ProductRule] = []
    in_rules, fenced = False, False
    for number, line in enumerate(text.split("\n"), start=1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced:
            continue
        if heading := re.match(r"#+\s+(.*)", line):
            in_rules = bool(re.search(r"\brules?\b", heading[1], re.IGNORECASE))
        if rule := _RULE.match(line):
            found.append(ProductRule(rule["id"], rule["text"].strip(" |"), number))
        elif in_rules and (item := re.match(r"\s*(?:[-*+]|\d+[.)])\s+(\S.*)", line)):
            found.append(ProductRule("", item[1], number))
    return tuple(found)


def matching(rule: ProductRule, tests: Sequence[RuleTest]) -> list[RuleTest]:
    """The tests of a rule: those that name its id, or for a rule without one, most of its words."""
    if rule.id:
        letters, digits = re.fullmatch(r"([A-Z]+)-?(\d+)", rule.id).groups()  # type: ignore[union-attr]
        name = re.compile(rf"(?<![A-Za-z0-9]){letters}[-_ ]?0*{int(digits)}(?![0-9A-Za-z])", re.IGNORECASE)
        return [test for test in tests if name.search(test.words)]
    wanted = {word for word in re.findall(r"[a-z]{3,}", rule.text.lower()) if word not in _STOP}
    return [test for test in tests if wanted and _share(wanted, test.words) >= ENOUGH]


def _share(wanted: set[str], words: str) -> float:
    there = set(re.findall(r"[a-z]{3,}", words.lower().replace("_", " ")))
    return sum(not there.isdisjoint((word, f"{word}s", word.removesuffix("s"))) for word in wanted) / len(wanted)


def uncovered_rules(
    tree: SourceTree, file: str, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
) -> Iterator[TrackDefect]:
    """Rules that no test can fail for, whose numbers no test of theirs uses, or whose number is nowhere at all."""
    texts = (tree.text(path) for path in tree.product(*PYTHON, *SCRIPTS, *_DATA))
    in_code = frozenset(float(each.replace("_", "")) for text in texts for each in _IN_CODE.findall(text))
    for rule in rules:
        for name, text, action in _gaps(rule, matching(rule, tests), in_code):
            yield tree.defect(name, text, file, rule.line, action=action)


def _gaps(rule: ProductRule, own: Sequence[RuleTest], in_code: frozenset[float]) -> Iterator[tuple[str, str, str]]:
    able = [test for test in own if not test.idle]
    if not able:
        told = f"no test names {rule.name}" if not own else f"every test of {rule.name} {own[0].idle}"
        yield ("rule-idle" if own else "rule-untested"), told, f"test it, and name {rule.name}"
        return
    used = frozenset(value for test in able for value in _values(test, rule))
    unused = [number for number, percent in rule.numbers if not _is_used(number, used, in_code, percent=percent)]
    if unused and len(unused) == len(rule.numbers):
        listed = ", ".join(f"{one:g}" for one in unused)
        yield "rule-numbers", f"the tests of {rule.name} use none of its numbers ({listed})", "test the rule with the numbers it states"  # fmt: skip
    percents = dict(rule.numbers)
    for number in unused:
        if in_code and number > TRIVIAL and not _written_forms(number, rule.text, percent=percents[number]) & in_code:
            told = f"{rule.name} says {number:g}, and neither the code nor a test of the rule has that number"
            yield "rule-number-nowhere", told, "make the code say what the rule says, or change the rule"


def _is_used(number: float, used: frozenset[float], in_code: frozenset[float], *, percent: bool) -> bool:
    """Whether tests try a number; a percentage also by what comes out of an amount of theirs or of the code's."""
    if _forms(number, percent=percent) & used:
        return True
    amounts = used | in_code | {one * other for one in used for other in used}
    shares = (number / 100, 1 - number / 100, 1 + number / 100) if percent else ()
    return any(round(amount * share, 6) in used for amount in amounts if amount for share in shares)


def _forms(number: float, *, percent: bool) -> frozenset[float]:
    share = {round(number / 100, 6), round(1 - number / 100, 6), round(1 + number / 100, 6)} if percent else set()
    return frozenset({number, number * 100, *share})


def _written_forms(number: float, text: str, *, percent: bool) -> frozenset[float]:
    """How code may write a number of a rule: as it stands, one off for another comparison, as a share, in another unit."""
    near = re.search(rf"\S?{number:g}(?:[.,]0+)?\s*\S+", text)  # €20, 20 hours
    units = [unit for words, some in _UNITS if near and words.search(near[0]) for unit in some]
    other = {number * unit for unit in units} | {number / unit for unit in units if number % unit == 0}
    return _forms(number, percent=percent) | other | {number + 1, number - 1}


def untried_limits(
    tree: SourceTree, file: str, rules: Sequence[ProductRule], tests: Sequence[RuleTest]
) -> Iterator[TrackDefect]:
    """Limits of tested rules that their tests do not try at, below and above."""
    for rule in rules:
        able = [test for test in matching(rule, tests) if not test.idle]
        for limit in rule.limits if able else ():
            if missing := _missing(limit, able, rule):
                text = f"{rule.name}: no test tries it {' or '.join(missing)} {limit:g}"
                action = f"test {limit:g}, one less and one more"
                yield tree.defect("limit-untried", text, file, rule.line, action=action)


def _values(test: RuleTest, rule: ProductRule) -> frozenset[float]:
    """What a test tries a rule with: its numbers, and where the rule counts characters the lengths of its texts."""
    return test.numbers | test.lengths if rule.is_of_text else test.numbers


def _missing(limit: float, able: Sequence[RuleTest], rule: ProductRule) -> list[str]:
    """Where a limit was not tried. A result stops at its cap: two inputs that give the cap try it at and beyond."""
    used = frozenset(value for test in able for value in _values(test, rule))
    tried = {"at": limit in used, "below": any(0 <= v < limit for v in used), "above": any(v > limit for v in used)}
    missing = [word for word, done in tried.items() if not done]
    capped = [result for test in able for result in test.results].count(limit) > 1
    return [] if capped and len(missing) == 1 else missing
