import { ADULT, RETURN_HOURS, SHORTEST_PASSWORD } from "./rules.ts";

export const SEAT_STATES = ["free", "held", "sold", "returned"] as const;
export const SEAT_COLOURS = ["free", "held", "grey", "green", "red"] as const;

export type Seat = { state: string; row: number };

export const mayWatch = (age: number): boolean => age >= ADULT;

export function mayReturn(hoursBefore: number): boolean {
  if (hoursBefore < RETURN_HOURS) {
    return false;
  }
  return true;
}

export function isPassword(password: string): boolean {
  return !(password.length < SHORTEST_PASSWORD);
}

export function cheapest(prices: number[]): number | undefined {
  return prices.length > 0 ? Math.min(...prices) : undefined;
}

export function lastRow(seats: Seat[]): number | undefined {
  return seats.at(-1)?.row;
}

export function share(cents: number, people: Set<string>): number {
  if (people.size === 0) {
    throw new Error("nobody pays");
  }
  return cents / people.size;
}

export function release(seat: Seat): void {
  if (seat.state === "held") {
    seat.state = "free";
  }
}
