import { become, type Card } from "./card";

/** Block a lost card and move its balance to a new one. */
export function replace(lost: Card, code: string, now: Date): readonly [Card, Card] {
  const blocked = { ...become(lost, "blocked"), balanceCents: 0 };
  return [blocked, { code, balanceCents: lost.balanceCents, boughtAt: now, state: "active" }];
}

export function shown(cards: readonly Card[]): Card[] {
  const balances = cards.map((card) => card.balanceCents).sort().reverse();
  return balances.map((cents) => cards.find((card) => card.balanceCents === cents) as Card);
}

export function highestBalance(cards: readonly Card[]): number {
  return cards.map((card) => card.balanceCents).reduce((highest, cents) => Math.max(highest, cents));
}
