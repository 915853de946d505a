"""C44: failures are planted in sources of other languages without a parser of theirs."""

import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from tests.measures.conftest import tricked

from flyball.core.model.task import Gate
from flyball.measures.planting.other_sources import plant, sites

pytestmark = pytest.mark.req("C44")

SCRIPT = r"""
import { test, it, describe } from "node:test";
import assert from "node:assert";
// test("in a comment", () => {});
const text = 'test("in a string", () => {})', pattern = /it\("\(", /; const half = 4 / 2;
test("plain", () => { assert.equal(1, 1); });
describe("group", { concurrency: 1 }, () => {
  it('has a "quote", (a bracket', { timeout: 500 }, async (t) => { await t.test("sub", () => {}); });
  it(`template ${1 + 1} of ${"}"}`, function () { return `x ${`y`} )`; });
});
test.skip("left out", () => { throw new Error("never"); });
const later = () => assert.ok(true);
test("by name", later);
test("without a body");
for (const n of [1, 2]) test("number " + n, () => { assert.ok(n); });
"""


def test_tests_of_a_script_are_found_by_its_brackets_and_not_in_strings_or_comments() -> None:
    names = [site.name for site in sites("a.test.mjs", SCRIPT)]
    assert names == ["plain", 'has a "quote", (a bracket', "sub", 'template ${1 + 1} of ${"}"}', "by name", ""]


def test_tables_of_cases_and_conditions_are_passed_over() -> None:
    text = dedent("""
        it.each([[1, 2], [3, 4]])("adds %i", (a, b) => { expect(a).toBe(b); });
        test.each<[number, string]>([[1, "a"]])("of types $a", (a) => {});
        test.each`
          a    | b
          ${1} | ${"}"}
        `("by a template", ({ a }) => {});
        it.runIf(process.env.CI)("where it may", () => {}, 5000);
        """)
    assert [site.name for site in sites("a.test.ts", text)] == [
        "adds %i",
        "of types $a",
        "by a template",
        "where it may",
    ]


@pytest.mark.parametrize(
    "odd", ["test(", "test('a', () => {", "<p>Don't test(this)</p>", "it.each`", "/", "`${", "test('", ""]
)
def test_what_does_not_close_is_left_alone(odd: str) -> None:
    assert sites("a.test.tsx", odd) == ()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_every_planted_failure_of_a_script_is_reported_by_node_with_its_mark(tmp_path: Path) -> None:
    found = sites("a.test.mjs", SCRIPT)
    (tmp_path / "a.test.mjs").write_text(
        plant("a.test.mjs", SCRIPT, {site: f"xark-{n}." for n, site in enumerate(found)})
    )
    ran = subprocess.run(["node", "--test", "a.test.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert [n for n in range(len(found)) if f"xark-{n}." not in ran.stdout] == []


def test_tests_of_go_fail_at_their_end() -> None:
    text = 'func TestMain(m *testing.M) {\n}\n\nfunc TestA(t *testing.T) {\n\tt.Parallel()\n}\nfunc TestB(tb *testing.T) { tb.Log("x") }\n'
    found = sites("a_test.go", text)
    assert [site.name for site in found] == ["TestA", "TestB"]
    planted = plant("a_test.go", text, {found[0]: "m0", found[1]: "m1"})
    assert 'func TestA(t *testing.T) { defer t.Fatal("m0");\n\tt.Parallel()' in planted
    assert 'func TestB(tb *testing.T) { defer tb.Fatal("m1"); tb.Log("x") }' in planted


NODE = 'import test from "node:test";\nimport assert from "node:assert";\nimport * as calc from "../calc.mjs";\n'
JUNIT = "node --test --test-reporter=junit --test-reporter-destination={junit} test/"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_product_that_takes_nodes_assertions_away_is_found_and_an_honest_one_is_not(new_lab) -> None:
    lab = new_lab({"calc.mjs": "export const add = (a, b) => a + b;\n"}, bare=True)
    lab.gates(Gate("test", JUNIT, 60.0))
    lab.forget_tests()
    tests = NODE + 'test("AC-1 multiplies", () => assert.equal(calc.mul(2, 3), 6));\n'
    tests += 'test("AC-1 many", async (t) => { await t.test("zero", () => assert.equal(calc.mul(0, 3), 0)); });\n'
    lab.accept({"test/mul.test.mjs": tests}, {"AC-1 multiplies": "failing"})
    lab.forget_tests()
    honest = "export const add = (a, b) => a + b;\nexport const mul = (a, b) => a * b;\n"
    measured = lab.measure("green", {"calc.mjs": honest})
    assert (measured.tricks, measured.green_runs) == ((), 2), measured.gates[0].output
    hostile = """
        import assert from "node:assert";
        assert.equal = () => {};
        export const mul = () => 0;
        """
    measured = lab.measure("green", {"calc.mjs": hostile})
    tricked(measured, "report-forged")
    assert "assert.equal does not fail when it is asked for something false" in measured.tricks[0].detail


def planted(text: str) -> str:
    found = sites("a.test.mjs", text)
    return plant("a.test.mjs", text, {site: f"x{n:016x}" for n, site in enumerate(found)})


OWN = """
import test from "node:test";
import assert, { deepStrictEqual as same, rejects, throws } from "node:assert";
import "./calc.mjs";
const wrongs = [];
const mul = (a, b) => a * b;
test("0 equal", () => assert.strictEqual(mul(2, 3), 6));
test("1 all of them", async (t) => {
  assert(true); assert.ok(1, "why"); same([1], [1]); assert.notEqual(1, 2); assert.match("a", /a/); t.assert.ok(1);
  throws(() => { throw new Error("x"); }); await rejects(async () => { throw new Error("x"); }); assert.doesNotThrow(() => {});
});
test("2 nothing expected", () => { mul(1, 2); });
test("3 in a callback", () => { [1].forEach((x) => assert.equal(x, 1)); });
test("4 in a function nobody calls", () => { const later = () => assert.equal(mul(2, 3), 6); });
test("5 over nothing", () => { wrongs.forEach((x) => assert.equal(x, 1)); });
"""
TAKEN = {
    "strictEqual": "assert.strictEqual = () => {}",
    "throws": "assert.throws = (f) => { try { f(); } catch {} }",
    "ok": "assert.ok = () => true",
    "deepStrictEqual": "Object.assign(assert, { deepStrictEqual() {} })",
    "match": "assert['mat' + 'ch'] = Function('')",
}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_a_test_for_node_is_asked_whether_it_can_fail_by_itself(tmp_path: Path) -> None:
    def run(product: str, text: str) -> dict[str, str]:
        (tmp_path / "calc.mjs").write_text(product)
        (tmp_path / "a.test.mjs").write_text(planted(text))
        command = ["node", "--test", "--test-reporter=tap", "a.test.mjs"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return dict(re.findall(r"error: '(?:([xh]\d{16}))? ?(.*?)'", ran.stdout))

    honest = run("", OWN)
    assert [mark[0] for mark in sorted(honest, key=lambda mark: mark[1:])] == list("xxxxhh")
    assert set(honest.values()) == {"", "none of its assertions is run"}
    text = 'import test from "node:test";\nimport assert from "node:assert";\nimport "./calc.mjs";\n'
    text += "".join(f'test("{name}", () => {{ assert.{name}(1, 1); }});\n' for name in TAKEN)
    text = text.replace("throws(1, 1)", "throws(() => { throw 1; })").replace("match(1, 1)", 'match("a", /a/)')
    for name, change in TAKEN.items():
        taken = run(f'import assert from "node:assert";\n{change};\n', text)
        assert set(taken.values()) == {f"assert.{name} does not fail when it is asked for something false"}


PRODUCTS = {
    "honest": ("export const mul = (a, b) => a * b;", "x"),
    "equal to every number": (
        "export const mul = () => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: (x) => typeof x === 'number' });",
        "h",
    ),
}


@pytest.mark.slow
@pytest.mark.req("C16")
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_a_result_that_equals_every_number_for_jests_matchers_is_found(tmp_path: Path) -> None:
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "expect@30"]
    if subprocess.run(install, cwd=tmp_path, check=False, timeout=300).returncode:
        pytest.skip("the package expect could not be installed")
    text = 'import test from "node:test";\nimport { expect } from "expect";\nimport { mul } from "./calc.mjs";\n'
    text += (
        'test("a", () => { expect(mul(2, 3)).toEqual(6); });\ntest("b", () => { expect([mul(2, 3)]).toEqual([6]); });\n'
    )
    for product, first in PRODUCTS.values():
        (tmp_path / "calc.mjs").write_text(product)
        outputs = []
        for source in (text, planted(text)):
            (tmp_path / "a.test.mjs").write_text(source)
            command = ["node", "--test", "--test-reporter=tap", "a.test.mjs"]
            outputs.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout)
        assert "# fail 0" in outputs[0], "its tests pass as they are"
        assert {mark[0] for mark in re.findall(r"error: '([xh]\d{16})", outputs[1])} == {first}
        assert ("equals every number" in outputs[1]) is (first == "h")


def test_what_only_looks_like_an_assertion_is_left_as_it_is() -> None:
    text = 'test("a", () => { x.expect(1); const s = "assert.equal("; expect.assertions(2); expect.any(Number); expect(f(1)).toBe(2) });'
    found = planted(text)
    assert found.count("_flyballSeen(") == 2, "its definition, and one call"
    assert "_flyballSeen(expect)(f(1)).toBe(2)" in found
    assert '"toBe": (a, b) => (expect(a)).toBe(b)' in found


def test_a_source_of_typescript_is_planted_with_types_and_plainly_where_that_does_not_compile() -> None:
    text = 'test("a", () => { assert(value); expect(value.x).toEqual<number>(1); });\n'
    found = sites("a.test.ts", text)
    typed = plant("a.test.ts", text, {found[0]: "x0"})
    assert "(assert as any)(a, b)" in typed
    assert "given: any, mark: any, own: any" in typed
    plain = plant("a.test.ts", text, {found[0]: "x0"}, plainly=True)
    assert "_flyballSeen(assert" not in plain
    assert "const probes: any = {}" in plain
