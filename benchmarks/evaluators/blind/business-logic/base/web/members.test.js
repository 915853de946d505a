import test from "node:test";
import assert from "node:assert";
import { mayBorrow } from "./members.js";

test("BR-1 five books at most", () => {
  assert.ok(mayBorrow(4));
  assert.ok(!mayBorrow(5));
});
