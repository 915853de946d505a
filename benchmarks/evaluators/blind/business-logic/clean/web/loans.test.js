import test from "node:test";
import assert from "node:assert";
import { isName, mayExtend } from "./loans.ts";

const loan = (extensions) => ({ status: "active", extensions, fines: [] });

test("BR-7 extended twice at most", () => {
  assert.ok(mayExtend(loan(1)));
  assert.ok(!mayExtend(loan(2)));
  assert.ok(!mayExtend(loan(3)));
});

test("BR-8 a name has 1 to 80 characters", () => {
  assert.ok(!isName(""));
  assert.ok(isName("A"));
  assert.ok(isName("A".repeat(79)));
  assert.ok(isName("A".repeat(80)));
  assert.ok(!isName("A".repeat(81)));
});
