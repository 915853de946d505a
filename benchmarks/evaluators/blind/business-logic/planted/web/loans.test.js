import test from "node:test";
import assert from "node:assert";
import { isName, mayExtend } from "./loans.ts";

test.skip("BR-7 extended twice at most", () => {
  assert.ok(mayExtend({ status: "active", extensions: 1, fines: [] }));
});

test("BR-8 a name", () => {
  assert.ok(isName("Ada"));
});
