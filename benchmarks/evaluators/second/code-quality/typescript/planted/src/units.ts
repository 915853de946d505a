export const UNITS = ["g", "ml", "piece"] as const;
export type Unit = (typeof UNITS)[number];

// @ts-ignore
export const DEFAULT_UNIT: Unit = "grams";

export function isUnit(word: unknown): word is Unit {
  return UNITS.some((unit) => unit === word);
}
