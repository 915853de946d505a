"""business-logic: rules against tests, limits, states."""

import pytest
from tests.measures.evaluators.planted import found, trees_of

from flyball.measures.evaluators.business_logic import measure
from flyball.measures.evaluators.product_rules import product_rules
from flyball.measures.evaluators.states import state_tables

pytestmark = pytest.mark.req("D24")

RULES = "# Rules\n- BR-1: At most 20 fit.\n- **R2**: 15 % off.\n- A name is never empty.\n\n```\n- BR-9: quoted\n```\n"
STATES = "| From | To | Why |\n|---|---|---|\n| draft | placed, dropped | x |\n| placed | paid | |\n"


def test_rules_with_and_without_ids_are_read_and_quoted_ones_are_not():
    rules = product_rules(RULES)
    assert [(each.id, each.line) for each in rules] == [("BR-1", 2), ("R2", 3), ("", 4)]
    assert rules[0].is_limit
    assert rules[1].numbers == ((15.0, True),)


def look(tmp_path, files, product=RULES, **more):
    return list(measure(trees_of(tmp_path, files, product=product, product_file="product.md", **more)))


def test_each_rule_is_matched_by_a_test_or_named(tmp_path):
    files = {
        "product.md": RULES,
        "tests/test_a.py": "def test_br_1():\n    assert fits(19) and fits(20) and not fits(21)\n\n\ndef test_name_never_empty():\n    ...\n",
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
    edge = next(each for each in look(tmp_path, files) if each.name == "edge cases")
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
    ],
)
def test_transitions_of_the_code_are_held_against_the_declared_ones(tmp_path, name, text, rules):
    result = look(tmp_path, {name: text, "product.md": STATES}, product=STATES)[2]
    assert [each.rule for each in result.findings] == rules


def test_without_a_product_there_is_nothing_to_check(tmp_path):
    assert {each.status for each in look(tmp_path, {"a.py": "x = 1\n"}, product="")} == {"n/a"}
