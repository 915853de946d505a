import { total, type Line } from "./cart";
import { discount } from "./discount";

export interface Checkout {
  lines: Line[];
  code?: string;
}

export class CheckoutUnreadable extends Error {}

function isCheckout(value: unknown): value is Checkout {
  return typeof value === "object" && value !== null && Array.isArray((value as { lines?: unknown }).lines);
}

export function restore(text: string): Checkout {
  const value: unknown = JSON.parse(text);
  if (!isCheckout(value)) {
    throw new CheckoutUnreadable("the kept checkout has no lines");
  }
  return value;
}

export function amount(checkout: Checkout): number {
  return total(checkout.lines) * (1 - discount(checkout));
}

// The caller shows the reason; a checkout that was not sent stays as it is.
export async function submit(checkout: Checkout, send: (body: string) => Promise<void>): Promise<string> {
  try {
    await send(JSON.stringify(checkout));
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "it could not be sent";
  }
}

export function remember(checkout: Checkout, store: Storage): void {
  try {
    store.setItem("checkout", JSON.stringify(checkout));
  } catch (error) {
    // A full store is no reason to stop somebody from buying.
    console.warn("the checkout is not remembered", error);
  }
}

/* Lines are shown in the order they were added; see total(lines) for the sum. */
export function withCode(checkout: Checkout, code: string): Checkout {
  return { ...checkout, code };
}
