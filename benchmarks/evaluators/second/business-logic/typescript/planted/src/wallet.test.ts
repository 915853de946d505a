import { expect, it } from "vitest";

import type { Card } from "./card";
import { highestBalance, shown } from "./wallet";

const now = new Date("2026-01-01T00:00:00Z");
const cardOf = (code: string, balanceCents: number): Card => ({ code, balanceCents, boughtAt: now, state: "active" });

it("the cards of a customer are shown with the highest balance first", () => {
  expect(shown([cardOf("A", 900), cardOf("B", 10_000)]).map(({ code }) => code)).toEqual(["B", "A"]);
  expect(highestBalance([cardOf("A", 900)])).toBe(900);
});
