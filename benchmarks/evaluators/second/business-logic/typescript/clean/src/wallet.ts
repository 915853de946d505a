import { become, type Card } from "./card";

/** Block a lost card and move its balance to a new one. */
export function replace(lost: Card, code: string, now: Date): readonly [Card, Card] {
  const blocked = { ...become(lost, "blocked"), balanceCents: 0 };
  return [blocked, { code, balanceCents: lost.balanceCents, boughtAt: now, state: "active" }];
}

export function shown(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => other.balanceCents - one.balanceCents);
}

export function highestBalance(cards: readonly Card[]): number {
  return cards.reduce((highest, card) => Math.max(highest, card.balanceCents), 0);
}
