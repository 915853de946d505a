import { firstName, type Checkout } from "./checkout";

export function discount(checkout: Checkout): number {
  return firstName(checkout).startsWith("p") ? 0.1 : 0;
}

export function describeDiscount(checkout: Checkout): string {
  const parts: string[] = [];
  let cents = 0;
  for (const line of checkout.lines) {
    const name = line.name.trim();
    if (name === "") {
      parts.push("(no name)");
      continue;
    }
    cents += line.cents;
    const euros = Math.floor(line.cents / 100);
    const rest = String(line.cents % 100).padStart(2, "0");
    parts.push(`${name}: ${euros}.${rest}`);
  }
  parts.push(`total: ${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`);
  return parts.join("\n");
}
