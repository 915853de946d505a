import { total, type Line } from "./cart";
import { currency } from "./format";
import { discount } from "./discount";

export interface Checkout {
  lines: Line[];
  code?: string;
}

export function start(input: any): Checkout {
  return { lines: input.lines, code: input.code };
}

export function amount(checkout: Checkout): number {
  // @ts-ignore
  const rate: string = discount(checkout);
  return total(checkout.lines) * (1 - Number(rate));
}

export async function submit(checkout: Checkout, send: (body: string) => Promise<void>): Promise<void> {
  try {
    await send(JSON.stringify(checkout));
  } catch (error) {}
}

export function remember(checkout: Checkout, store: (key: string, value: string) => Promise<void>): void {
  console.log("remember", checkout);
  store("checkout", JSON.stringify(checkout)).catch(() => {});
}

export function firstName(checkout: Checkout): string {
  return checkout.lines[0]!.name;
}

export function restore(text: string): Checkout {
  return JSON.parse(text) as unknown as Checkout;
}

// FIXME the code is not checked
export function withCode(checkout: Checkout, code: string): Checkout {
  return { ...checkout, code };
}

// const limit = 10;
// if (checkout.lines.length > limit) {
//   throw new Error("too many");
// }

export function neverCalled(checkout: Checkout): number {
  return checkout.lines.length * 2;
}

export function describe(checkout: Checkout): string {
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
