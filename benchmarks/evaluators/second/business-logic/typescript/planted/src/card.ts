export type CardState = "ordered" | "active" | "blocked" | "spent" | "expired" | "cancelled";

export interface Card {
  readonly code: string;
  readonly balanceCents: number;
  readonly boughtAt: Date;
  readonly state: CardState;
}

const MAY_BECOME: Readonly<Record<CardState, readonly CardState[]>> = {
  ordered: ["active", "cancelled"],
  active: ["spent", "blocked", "expired"],
  blocked: ["active", "expired"],
  spent: ["active"],
  expired: [],
  cancelled: [],
};

export function become(card: Card, state: CardState): Card {
  if (!MAY_BECOME[card.state].includes(state)) throw new Error(`a card that is ${card.state} cannot become ${state}`);
  return { ...card, state };
}

/** What the customer reads about a card. */
export function label(state: CardState): string | undefined {
  switch (state) {
    case "ordered":
      return "On its way";
    case "active":
      return "Ready to use";
    case "blocked":
      return "Blocked";
    case "spent":
      return "Used up";
    case "cancelled":
      return "Cancelled";
  }
}
