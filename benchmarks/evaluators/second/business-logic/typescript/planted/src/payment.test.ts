import { describe, expect, it } from "vitest";

import { become, label, type Card } from "./card";
import { countOf, pay } from "./payment";

const card: Card = { code: "A", balanceCents: 2_500, boughtAt: new Date("2024-02-01T00:00:00Z"), state: "active" };
const now = new Date("2026-01-01T00:00:00Z");

describe("payment", () => {
  it("a payment never takes more than the card's balance", () => {
    expect(pay(card, 3_000, now)).toEqual({ card: { ...card, balanceCents: 0, state: "spent" }, openCents: 500 });
  });

  it("a card can be spent until three years after it was bought", () => {
    expect(pay(card, 100, new Date("2027-02-01T00:00:00Z")).openCents).toBe(0);
    expect(pay(card, 100, new Date("2027-02-01T00:00:01Z")).card.state).toBe("expired");
  });

  it.each([0, -1, 0.5, Number.NaN])("refuses an amount of %s", (cents) => {
    expect(() => pay(card, cents, now)).toThrow(RangeError);
  });

  it("reads a count", () => {
    expect(countOf("12")).toBe(12);
  });
});

it("a cancelled card stays cancelled", () => {
  expect(() => become({ ...card, state: "cancelled" }, "active")).toThrow("cannot become");
  expect(label("spent")).toBe("Used up");
});
