"""business-logic: rules against tests, limits, states."""

from types import SimpleNamespace

import pytest
from tests.measures.evaluators.planted import found, trees_of

from flyball.measures.evaluators import business_logic
from flyball.measures.evaluators.business_logic import measure
from flyball.measures.evaluators.product.product_rules import product_rules
from flyball.measures.evaluators.product.states import state_tables
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax

pytestmark = pytest.mark.req("D24")

RULES = "# Rules\n- BR-1: At most 20 fit.\n- **R2**: 15 % off.\n- A name is never empty.\n\n```\n- BR-9: quoted\n```\n"
STATES = "| From | To | Why |\n|---|---|---|\n| draft | placed, dropped | x |\n| placed | paid | |\n"

SWITCH = 'export function f(s: S) {\n  switch (s) {\n    case "draft":\n    case "placed": return 2;\n    case "paid": return 3;'
MATCH = "def f(s):\n    match s:\n        case S.DRAFT | S.PLACED:\n            return 1\n        case S.PAID:\n            return 2\n"


def test_rules_with_and_without_ids_are_read_and_quoted_ones_are_not():
    rules = product_rules(RULES)
    assert [(each.id, each.line) for each in rules] == [("BR-1", 2), ("R2", 3), ("", 4)]
    assert rules[0].limits == (20.0,)
    assert rules[1].numbers == ((15.0, True),)


@pytest.mark.parametrize(
    ("text", "numbers", "limits"),
    [
        ("Invoices follow ISO 20022 since 2024, see section 7.", (), ()),
        ("At least 3 of 5 people agree (2 for small sums).", (3, 5, 2), (3, 5)),
        ("An order of 2000 EUR or more is checked.", (2000,), (2000,)),
        ("A late book costs 20 cents a day, but never more than 1000 cents.", (20, 1000), (1000,)),
        ("A code lapses after 15 minutes.", (15,), (15,)),
        ("Between 8 and 64 characters.", (8, 64), (8, 64)),
        ("Members get 3 points for each visit.", (3,), ()),
    ],
)
def test_numbers_that_say_how_much_and_those_that_are_limits(text, numbers, limits):
    (rule,) = product_rules(f"- BR-1: {text}\n")
    assert tuple(number for number, _ in rule.numbers) == numbers
    assert rule.limits == limits


@pytest.fixture(autouse=True)
def _quiet_linters(monkeypatch):
    """Programs take their time: the test that is about them starts them."""
    monkeypatch.setattr(business_logic, "Linters", lambda _: SimpleNamespace(looks=lambda _: ()))


def look(tmp_path, files, product=RULES, **more):
    return list(measure(trees_of(tmp_path, files, product=product, product_file="product.md", **more)))


def rules_of(results, name):
    return [each.rule for result in results if result.name == name for each in result.findings]


def test_each_rule_is_matched_by_a_test_or_named(tmp_path):
    files = {
        "product.md": RULES,
        "tests/test_a.py": "def test_br_1():\n    assert fits(19) and fits(20) and not fits(21)\n\n\ndef test_name_never_empty():\n    assert refuses('')\n",
        "web/a.test.ts": 'it("R2: fifteen off", () => { expect(price(100)).toBe(85 * 1.0 + 0.85); });\n',
    }
    assert found(look(tmp_path / "a", files), "product rules") == []
    assert found(look(tmp_path / "b", {"product.md": RULES}), "product rules") == [
        "product.md:2 rule-untested",
        "product.md:3 rule-untested",
        "product.md:4 rule-untested",
    ]


@pytest.mark.parametrize(
    ("values", "missing"), [((20, 21), "below"), ((19, 21), "at"), ((19, 20), "above"), ((19, 20, 21), "")]
)
def test_a_limit_is_tried_at_below_and_above(tmp_path, values, missing):
    files = {"product.md": RULES, "tests/test_a.py": f"def test_br_1():\n    assert all(map(fits, {list(values)}))\n"}
    edge = next(each for each in look(tmp_path, files) if each.name == "edge cases" and each.status != "n/a")
    told = [each.message for each in edge.findings]
    assert bool(told) == bool(missing)
    assert not missing or f"tries it {missing} 20" in told[0]


def test_a_rule_that_was_untested_before_is_older_unless_the_specification_names_it(tmp_path):
    before = {"product.md": RULES}
    files = {**before, "a.py": "x = 1\n"}
    plain = look(tmp_path / "a", files, before=before, base_product=RULES)[0]
    assert plain.status == "pass"
    assert len(plain.older) == 3
    named = look(tmp_path / "b", files, before=before, base_product=RULES, spec="See BR-1.")[0]
    assert [each.line for each in named.findings] == [2]


def test_state_tables_and_arrows_are_read():
    (table,) = state_tables(STATES)
    assert table.moves == {("draft", "placed"), ("draft", "dropped"), ("placed", "paid")}
    (arrows,) = state_tables("- draft → placed\n- `placed` -> paid\n")
    assert arrows.moves == {("draft", "placed"), ("placed", "paid")}
    assert state_tables("| a | b |\n|---|---|\n| x | y |\n") == ()
    (spoken,) = state_tables(
        "| **State** | May become |\n|---|---|\n| draft | placed or dropped |\n| dropped | |\n| paid | none |\n"
    )
    assert spoken.moves == {("draft", "placed"), ("draft", "dropped")}
    assert state_tables("| State | Meaning |\n|---|---|\n| draft | to come |\n") == ()


@pytest.mark.parametrize(
    ("name", "text", "rules"),
    [
        ("a.py", 'T = {"draft": {"placed", "dropped"}, "placed": {"paid"}}\n', []),
        ("a.py", 'T = {"draft": {"placed", "paid", "dropped"}, "placed": {"paid"}}\n', ["transition-undeclared"]),
        ("a.py", 'T = {"draft": {"placed"}, "placed": {"paid"}}\n', ["transition-missing"]),
        ("a.py", "T = {S.DRAFT: [S.PLACED, S.DROPPED], S.PLACED: [S.PAID]}\n", []),
        ("a.py", 'def f(o):\n    if o.status == "draft":\n        o.status = "placed"\n', []),
        ("a.py", 'def f(o):\n    if o.status == "draft":\n        o.status = "paid"\n', ["transition-undeclared"]),
        (
            "a.py",
            'def f(o):\n    if o.status != "placed":\n        raise ValueError("draft")\n    o.status = "paid"\n',
            [],
        ),
        ("a.py", 'def f(o):  # draft\n    o.status = "paid"\n', ["transition-unguarded"]),
        ("a.py", 'class O:\n    def __init__(self):\n        self.status = "draft"\n\n    def paid(self): ...\n', []),
        (
            "a.ts",
            'export const f = (o) => { if (o.state === "placed") { o.state = "paid"; } else { o.state = "draft"; } };\n',
            [],
        ),
        ("a.ts", 'export const f = (o) => { o.state = "gone"; }; // draft, paid\n', ["state-undeclared"]),
        ("a.ts", 'type S =\n  | "draft"\n  | "placed"\n  | "lost";\n', ["state-undeclared"]),
        ("a.ts", 'type S = "draft" | "placed" | "paid" | "dropped";\n', []),
        ("a.ts", 'type Colour = "draft" | "placed" | "red" | "green" | "blue";\n', []),
        ("a.ts", "enum S {\n  Draft,\n  Placed,\n  Frozen = 9,\n}\n", ["state-undeclared"]),
        ("a.js", 'const words = ["draft", "placed", "lost"];\n', []),
        ("a.ts", 'const ORDER_STATES = ["draft", "placed", "lost"] as const;\n', ["state-undeclared"]),
        ("a.py", 'STATES = frozenset({"draft", "placed", "lost"})\n', ["state-undeclared"]),
        ("a.py", 'STATE_COLOURS = {"draft": "red", "placed": "blue"}\n', []),
        (
            "a.py",
            "from enum import Enum\n\n\nclass S(Enum):\n    DRAFT = 1\n    PLACED = 2\n    LOST = 3\n",
            ["state-undeclared"],
        ),
        ("a.py", 'S = Literal["draft", "placed", "paid"]\n', []),
        ("a.ts", f"{SWITCH}\n  }}\n}}\n", ["state-left-out"]),
        ("a.ts", f'{SWITCH}\n    case "dropped": return 4;\n  }}\n}}\n', []),
        ("a.ts", f"{SWITCH}\n    default: return 0;\n  }}\n}}\n", []),
        ("a.ts", f"{SWITCH}\n  }}\n  return 0;\n}}\n", []),
        ("a.ts", f"{SWITCH}\n  }}\n}}\n".replace("return", "send"), []),
        ("a.py", MATCH, ["state-left-out"]),
        ("a.py", f"{MATCH}        case _:\n            return 0\n", []),
        ("a.py", 'S = Literal["draft", "placed", "lost"]\n', ["state-undeclared"]),
    ],
)
def test_transitions_of_the_code_are_held_against_the_declared_ones(tmp_path, name, text, rules):
    assert rules_of(look(tmp_path, {name: text, "product.md": STATES}, product=STATES), "state transitions") == rules


def test_without_a_product_there_is_nothing_to_check(tmp_path):
    assert {each.status for each in look(tmp_path, {"a.md": "x\n"}, product="")} == {"n/a"}


SKIPS = [
    ("tests/test_a.py", "@pytest.mark.skip(reason='later')\ndef test_br_1():\n    assert not fits(21) and fits(20) and fits(19)\n", "is skipped"),
    ("tests/test_a.py", "@pytest.mark.xfail\ndef test_br_1():\n    assert fits(20)\n", "is expected to fail"),
    ("tests/test_a.py", "pytestmark = [pytest.mark.skip]\n\n\ndef test_br_1():\n    assert fits(20)\n", "is skipped"),
    ("tests/test_a.py", "@unittest.skip('later')\nclass TestRules:\n    def test_br_1(self):\n        assert fits(20)\n", "is skipped"),
    ("tests/test_a.py", "def test_br_1():\n    pytest.skip('later')\n    assert fits(20)\n", "is skipped"),
    ("tests/test_a.py", "def test_br_1():\n    fits(20)\n", "asserts nothing"),
    ("web/a.test.js", "describe.skip('orders', () => { it('BR-1 fits', () => { expect(fits(20)).toBe(true); }); });\n", "is skipped"),
    ("web/a.test.js", "test('BR-1 fits', { skip: 'later' }, () => { assert.ok(fits(20)); });\n", "is skipped"),
    ("web/a.test.js", "xit('BR-1 fits', () => { expect(fits(20)).toBe(true); });\n", "is skipped"),
    ("web/a.test.js", "it('BR-1 fits', () => { fits(20); });\n", "asserts nothing"),
    ("tests/test_a.py", "@pytest.mark.skipif(sys.platform == 'win32', reason='posix')\ndef test_br_1():\n    assert fits(20)\n", ""),
    ("tests/test_a.py", "def holds(n):\n    assert fits(n)\n\n\ndef test_br_1():\n    holds(20)\n", ""),
    ("tests/test_a.py", "class TestRules:\n    def test_br_1(self):\n        self.assertTrue(fits(20))\n", ""),
    ("web/a.test.js", "const holds = (n) => expect(fits(n)).toBe(true);\nit('BR-1 fits', () => { holds(20); });\n", ""),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "idle"), SKIPS)
def test_a_test_that_cannot_fail_covers_no_rule(tmp_path, path, text, idle):
    rule = "# Rules\n- BR-1: At most 20 fit.\n"
    told = look(tmp_path, {"product.md": rule, path: text}, product=rule)[0].findings
    assert [each.message for each in told] == ([f"every test of BR-1 {idle}"] if idle else [])


def test_a_number_that_neither_code_nor_tests_have_is_named(tmp_path):
    rule = "# Rules\n- BR-1: A parcel above 30 kg costs 12 EUR more, for 48 hours.\n"
    test = "def test_br_1():\n    assert price(30) == 5 and price(31) == 17\n"
    for number, rules in (("12", []), ("1200", []), ("15", ["rule-number-nowhere"])):
        code = f"HOURS = 2 * 24\nMORE = {number}\nLONG = 2880\n"
        files = {"product.md": rule, "tests/test_a.py": test, "shop/prices.py": code}
        assert rules_of(look(tmp_path / number, files, product=rule), "product rules") == rules


@pytest.mark.parametrize(
    ("test", "rules"),
    [
        ("price(31, member=True) == Decimal('2.80')", []),
        ("price(200) == 160", []),
        ("price(10, each=25) == 200", []),
        ("price(31, member=True) < Decimal('3.50')", ["rule-numbers"]),
        ("price(200) == 150", ["rule-numbers"]),
    ],
)
def test_a_test_of_a_percentage_may_give_the_price_that_comes_out(tmp_path, test, rules):
    rule = "# Rules\n- BR-1: A member pays 20 % less.\n"
    code = "HOURLY_EUR = Decimal('3.50')\nLESS = 0.2\n"
    files = {"product.md": rule, "tests/test_a.py": f"def test_br_1():\n    assert {test}\n", "shop/prices.py": code}
    assert rules_of(look(tmp_path, files, product=rule), "product rules") == rules


def test_a_limit_that_another_rule_spells_is_not_put_down_to_one_alone(tmp_path):
    product = "# Rules\n- BR-1: A card is worth between 10 and 500 EUR.\n- BR-2: Ten or more at once are cheaper.\n- BR-3: At most 10 people.\n"
    code = "MANY = 10\n\n\ndef order_price(count, worth):\n    return count > MANY\n"
    results = look(tmp_path, {"product.md": product, "shop/a.py": code}, product=product)
    (told,) = [each.message for result in results if result.name == "edge cases" for each in result.findings]
    assert told.endswith("whether BR-1 or BR-2 holds there")


@pytest.mark.parametrize(
    ("test", "missing"),
    [
        ("assert fee(9) == 90\n    assert fee(10) == 100\n    assert fee(11) == 100", ""),
        ("assert fee(9) == 90\n    assert fee(10) == 100", "above"),
        ("assert fee(10) == 100\n    assert fee(11) == 100\n    assert fee(120) == 100", ""),
        ("assert fee(3) == 30", "at or above"),
    ],
)
def test_a_cap_is_tried_by_two_inputs_that_reach_it(tmp_path, test, missing):
    rule = "# Rules\n- BR-1: Each day costs 10 EUR, never more than 100 EUR.\n"
    files = {"product.md": rule, "tests/test_a.py": f"def test_br_1():\n    {test}\n"}
    told = [each.message for result in look(tmp_path, files, product=rule) if result.name == "edge cases" for each in result.findings]  # fmt: skip
    assert told == ([f"BR-1: no test tries it {missing} 100"] if missing else [])


@pytest.mark.parametrize(
    ("texts", "rules"),
    [(("''", "'a'", "'a' * 29", "'a' * 30", "'a' * 31"), []), (("'Ada'",), ["limit-untried", "limit-untried"])],
)
def test_a_limit_of_characters_is_tried_by_texts_of_that_length(tmp_path, texts, rules):
    rule = "# Rules\n- BR-1: A title has at least 1 and at most 30 characters.\n"
    checks = "\n".join(f"    assert is_title({text}) is not None" for text in texts)
    files = {"product.md": rule, "tests/test_a.py": f"def test_br_1():\n{checks}\n"}
    assert rules_of(look(tmp_path, files, product=rule), "edge cases") == rules


BOUNDARIES = [
    ("shop/a.py", "MOST = 12\n\n\ndef may_add(seats):\n    return seats < MOST\n", ["shop/a.py:5 limit-undecided"]),
    ("shop/a.py", "def may_add(seats):\n    if 12 <= seats:\n        raise ValueError\n", ["shop/a.py:2 limit-undecided"]),
    ("shop/a.py", "def may_add(seats):\n    return seats < 13\n", []),
    ("shop/a.py", "class Limits:\n    MOST = 12\n\n\ndef may_add(people):\n    return people < Limits.MOST\n", ["shop/a.py:6 limit-undecided"]),
    ("shop/a.py", "MOST = timedelta(days=12)\n\n\ndef is_over(since, seats):\n    return since > MOST\n", ["shop/a.py:5 limit-undecided"]),
    ("shop/a.py", "def parse(words):\n    return len(words) > 12\n", []),
    ("web/a.ts", "export const mayAdd = (seats: number) => seats <= 12;\n", ["web/a.ts:1 limit-undecided"]),
    ("web/a.js", "const MOST = 12;\nfunction mayAdd(table) { return table.seats.length >= MOST; }\n", ["web/a.js:2 limit-undecided"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "rules"), BOUNDARIES)
def test_a_comparison_with_a_limit_that_no_test_tries_there_is_named(tmp_path, path, code, rules):
    rule = "# Rules\n- BR-1: A table has at most 12 seats.\n"
    near = "def test_br_1():\n    assert may_add(3) and not may_add(40)\n"
    files = {"product.md": rule, path: code, "tests/test_a.py": near}
    assert found(look(tmp_path / "far", files, product=rule), "edge cases") == ["product.md:2 limit-untried", *rules]
    tried = near + "\n\ndef test_br_1_at_the_limit():\n    assert may_add(11) and not may_add(12) and not may_add(13)\n"
    files["tests/test_a.py"] = tried
    assert found(look(tmp_path / "near", files, product=rule), "edge cases") == []


EMPTIES = [
    ("a.py", "def mean(xs: list[int]) -> float:\n    return sum(xs) / len(xs)\n", "division-by-zero"),
    ("a.py", "def mean(xs):\n    if not xs:\n        return 0\n    return sum(xs) / len(xs)\n", ""),
    ("a.py", "def mean(xs):\n    return sum(xs) / len(xs) if xs else 0\n", ""),
    ("a.py", "def mean(xs):\n    return sum(xs) / max(1, len(xs))\n", ""),
    ("a.py", "def shares(xs):\n    return [x / len(xs) for x in xs]\n", ""),
    ("a.py", "def per_head(total: int, guests: int) -> int:\n    return total // guests\n", "division-by-zero"),
    ("a.py", "def per_head(total, guests):\n    if guests < 1:\n        raise ValueError\n    return total / guests\n", ""),
    ("a.py", "def per_head(total, guests):\n    try:\n        return total / guests\n    except ZeroDivisionError:\n        return 0\n", ""),
    ("a.py", "def under(folder: Path, name: str) -> Path:\n    return folder / name\n", ""),
    ("a.py", "def _half(total: int, parts: int) -> int:\n    return total // parts\n", ""),
    ("a.py", "def newest(orders: list[Order]) -> Order:\n    return orders[0]\n", "end-of-nothing"),
    ("a.py", "class Cart:\n    lines: list[str]\n\n\ndef last(cart: Cart) -> str:\n    return cart.lines[-1]\n", "end-of-nothing"),
    ("a.py", "def last(cart):\n    assert cart.lines\n    return cart.lines[-1]\n\n\nclass Cart:\n    lines: list[str]\n", ""),
    ("a.py", "def first(names: list[str]) -> str:\n    return sorted(names)[0]\n", "end-of-nothing"),
    ("a.py", "def year(text: str) -> str:\n    return text.split('-')[0]\n", ""),
    ("a.py", "def best(xs: list[int]) -> int:\n    return max(xs)\n", "fold-of-nothing"),
    ("a.py", "def best(xs: list[int]) -> int:\n    return max(xs, default=0)\n", ""),
    ("a.py", "def total(xs):\n    return reduce(add, xs)\n", "fold-of-nothing"),
    ("a.py", "def total(xs):\n    return reduce(add, xs, 0)\n", ""),
    ("a.ts", "export const sum = (xs: number[]) => xs.reduce((a, b) => a + b);\n", "fold-of-nothing"),
    ("a.ts", "export const sum = (xs: number[]) => xs.reduce((a, b) => a + b, 0);\n", ""),
    ("a.ts", "export const top = (xs: Line[]) => xs.map((x) => x.cents).reduce((a, b) => Math.max(a, b));\n", "fold-of-nothing"),
    ("a.ts", "export const top = (xs: Line[]) => xs.length ? xs.map((x) => x.cents).reduce((a, b) => Math.max(a, b)) : 0;\n", ""),
    ("a.ts", "export const all = (x: Line) => x.text.split(' ').reduce((a, b) => a + b);\n", ""),
    ("a.ts", "interface Line { cents: number; }\nconst f = (xs: Line[]) => xs.map((x) => x.cents).sort().reverse();\n", "numbers-as-words"),
    ("a.ts", "const f = (xs: readonly number[]) => [...xs].sort();\n", "numbers-as-words"),
    ("a.js", "const f = (words) => words.map(Number).toSorted();\n", "numbers-as-words"),
    ("a.js", "const f = () => [30, 4, 100].sort();\n", "numbers-as-words"),
    ("a.ts", "interface Line { cents: number; name: string; }\nconst f = (xs: Line[]) => xs.map((x) => x.name).sort();\n", ""),
    ("a.ts", "const f = (xs: number[]) => [...xs].sort((a, b) => a - b);\n", ""),
    ("a.ts", "const f = (xs: string[]) => [...xs].sort();\n", ""),
    ("a.ts", "interface A { id: number; }\ninterface B { id: string; }\nconst f = (xs: B[]) => xs.map((x) => x.id).sort();\n", ""),
    ("a.ts", "export function mean(c: Cart) { return c.total / c.lines.length; }\n", "division-by-zero"),
    ("a.ts", "export function mean(c: Cart) { return c.lines.length > 0 ? c.total / c.lines.length : 0; }\n", ""),
    ("a.ts", "export function first(xs: Line[]) { return xs[0].name; }\n", "end-of-nothing"),
    ("a.ts", "export function first(xs: Line[]) { return xs[0]?.name; }\n", ""),
    ("a.ts", "function price(count: number, eachCents: number) {\n  const full = count * eachCents;\n  return full * 0.95;\n}\n", "fraction-of-a-cent"),
    ("a.ts", "const price = (cents: number) => Math.round(cents * 0.95);\n", ""),
    ("a.ts", "const price = (cents: number) => roundUp(cents * 0.95);\n", ""),
    ("a.ts", "const euros = (cents: number) => cents * 0.01;\n", ""),
    ("a.ts", "const wide = (recent: number) => recent * 0.5;\n", ""),
    ("a.ts", "function total(xs: Line[]) {\n  const taxed = xs.map((cents) => cents * 1.19);\n  return Math.round(sum(taxed));\n}\n", ""),
    ("a.ts", "export const most = (xs: number[]) => Math.max(...xs);\n", "fold-of-nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "rule"), EMPTIES)
def test_what_fails_on_nothing_is_named_unless_something_looks_first(tmp_path, path, code, rule):
    assert rules_of(look(tmp_path, {path: code}, product=""), "edge cases") == ([rule] if rule else [])


def test_a_fold_behind_other_calls_is_told_by_its_name(tmp_path):
    code = "export const top = (xs: Line[]) => xs.map((x) => x.cents).reduce((a, b) => Math.max(a, b));\n"
    (told,) = [each.message for result in look(tmp_path, {"a.ts": code}, product="") for each in result.findings]
    assert told.startswith("`reduce` of xs has no value to begin with")


def test_code_that_is_nested_without_measure_is_read(tmp_path):
    code = f"def total(a: int) -> float:\n    return {'a + ' * 3000}1 / a\n"
    assert rules_of(look(tmp_path, {"a.py": code}, product=""), "edge cases") == ["division-by-zero"]


def test_what_a_test_tries_without_any_is_not_named(tmp_path):
    code = "def mean(xs):\n    return sum(xs) / len(xs)\n"
    test = "def test_mean():\n    with pytest.raises(ZeroDivisionError):\n        mean([])\n"
    assert rules_of(look(tmp_path, {"a.py": code, "tests/test_a.py": test}, product=""), "edge cases") == []


LINTED = [
    ("a.py", "def f(x, xs=[]):\n    return [*xs, x]\n", ["B006"]),
    ("a.py", "def f(x, xs=()):\n    return [*xs, x]\n", []),
    ("a.py", "from datetime import UTC, datetime\n\nEND = datetime(2030, 1, 1, tzinfo=UTC)\nSTART = datetime.now()\n", ["DTZ005"]),
    ("a.py", "from datetime import UTC, datetime\n\nSTART = datetime.now(UTC)\n", []),
    ("a.py", "from datetime import datetime\n\nSTART = datetime.now()\n", []),
    ("a.ts", "export const f = (x: string) => parseInt(x) == NaN;\n", ["radix", "use-isnan"]),
    ("a.ts", "export const f = (x: string) => Number.isNaN(Number.parseInt(x, 10));\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "rules"), LINTED)
def test_slips_that_linters_know_are_edge_cases(tmp_path, path, code, rules):
    trees = trees_of(tmp_path, {path: code})
    result = business_logic._slips(trees, Linters(trees), Syntax(trees.toolbox))
    assert sorted(each.rule for each in result.findings) == rules
