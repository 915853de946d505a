import { expect, it } from "vitest";

import type { Card } from "./card";
import { highestBalance, replace, shown } from "./wallet";

const now = new Date("2026-01-01T00:00:00Z");
const cardOf = (code: string, balanceCents: number): Card => ({ code, balanceCents, boughtAt: now, state: "active" });

it("a lost card can be blocked, and its balance moved to a new card", () => {
  const [lost, fresh] = replace(cardOf("A", 700), "B", now);
  expect([lost.state, lost.balanceCents, fresh.balanceCents]).toEqual(["blocked", 0, 700]);
});

it("the cards of a customer are shown with the highest balance first", () => {
  expect(shown([cardOf("A", 900), cardOf("B", 10_000)]).map(({ code }) => code)).toEqual(["B", "A"]);
  expect(highestBalance([])).toBe(0);
});
