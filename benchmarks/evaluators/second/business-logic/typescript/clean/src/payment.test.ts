import { describe, expect, it } from "vitest";

import { become, label, type Card } from "./card";
import { countOf, orderPrice, pay } from "./payment";

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

  it("cards bought ten or more at once are 5 % cheaper", () => {
    expect([orderPrice(9, 1_000), orderPrice(10, 1_000)]).toEqual([9_000, 9_500]);
  });

  it.each([0, -1, 0.5, Number.NaN])("refuses an amount of %s", (cents) => {
    expect(() => pay(card, cents, now)).toThrow(RangeError);
  });

  it("reads a count", () => {
    expect(["12", "0", "x"].map(countOf)).toEqual([12, undefined, undefined]);
  });
});

it("a spent card stays spent", () => {
  expect(() => become({ ...card, state: "spent" }, "active")).toThrow("cannot become");
  expect(label("spent")).toBe("Used up");
});
