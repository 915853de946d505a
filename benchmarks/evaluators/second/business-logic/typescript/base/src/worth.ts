export const LOWEST_CENTS = 1_000;
export const HIGHEST_CENTS = 50_000;

export function isWorth(cents: number): boolean {
  return Number.isInteger(cents) && cents >= LOWEST_CENTS && cents <= HIGHEST_CENTS;
}
