export const UNITS = ["g", "ml", "piece"] as const;
export type Unit = (typeof UNITS)[number];

export function isUnit(word: unknown): word is Unit {
  return UNITS.some((unit) => unit === word);
}
