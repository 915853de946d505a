import { ADULT, RETURN_HOURS, SHORTEST_PASSWORD } from "./rules.ts";

export const SEAT_STATES = ["free", "held", "sold", "returned", "lost"] as const;

export type Seat = { state: string; row: number };

export const mayWatch = (age: number): boolean => age > ADULT;

export function mayReturn(hoursBefore: number): boolean {
  if (hoursBefore <= RETURN_HOURS) {
    return false;
  }
  return true;
}

export function isPassword(password: string): boolean {
  return !(password.length <= SHORTEST_PASSWORD);
}

export function cheapest(prices: number[]): number {
  return Math.min(...prices);
}

export function lastRow(seats: Seat[]): number {
  return seats[seats.length - 1].row;
}

export function share(cents: number, people: Set<string>): number {
  return cents / people.size;
}

export function release(seat: Seat): void {
  if (seat.state === "sold") {
    seat.state = "free";
  }
}
