import { expect, it } from "vitest";

import { isWorth } from "./worth";

it("a card is worth between 10 and 500 EUR", () => {
  expect([999, 1_000, 50_000, 50_001].map(isWorth)).toEqual([false, true, true, false]);
});
