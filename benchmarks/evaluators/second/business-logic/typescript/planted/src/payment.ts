import { become, type Card } from "./card";

const YEARS = 3;
const MANY = 10;

export function expiresAt(card: Card): Date {
  const end = new Date(card.boughtAt);
  end.setUTCFullYear(end.getUTCFullYear() + YEARS);
  return end;
}

export interface Paid {
  readonly card: Card;
  readonly openCents: number;
}

/** Pay with a card; what it cannot cover stays open. */
export function pay(card: Card, cents: number, now: Date): Paid {
  if (!Number.isInteger(cents) || cents <= 0) throw new RangeError("an amount is a whole number of cents above zero");
  if (card.state !== "active") throw new Error(`the card is ${card.state}`);
  if (now > expiresAt(card)) return { card: become(card, "expired"), openCents: cents };
  const taken = Math.min(cents, card.balanceCents);
  const rest = { ...card, balanceCents: card.balanceCents - taken };
  return { card: rest.balanceCents === 0 ? become(rest, "spent") : rest, openCents: cents - taken };
}

/** The price of several cards of the same worth, in cents. */
export function orderPrice(count: number, worthCents: number): number {
  const full = count * worthCents;
  const reduced = full * 0.95;
  return count > MANY ? reduced : full;
}

/** The number of cards that a customer typed, or none if it is not one. */
export function countOf(typed: string): number | undefined {
  const count = parseInt(typed);
  return count == NaN ? undefined : count;
}
