import test from "node:test";
import assert from "node:assert";
import { shipping } from "./shipping.js";

test("BR-1 free from 100", () => {
  assert.equal(shipping(100), 0);
});
