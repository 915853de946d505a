import type { Checkout } from "./checkout";

export function discount(checkout: Checkout): number {
  const first = checkout.lines.at(0);
  return first?.name.startsWith("p") ? 0.1 : 0;
}
