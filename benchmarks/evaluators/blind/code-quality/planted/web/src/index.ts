import { track } from "./tracking";
import { place } from "./map";
import { driverRows } from "./drivers";
import { clientRows } from "./clients";

export interface Parcel {
  number: string;
  grams: number;
  zone: string;
}

export function weight(parcel: Parcel): string {
  return `${(parcel.grams / 1000).toFixed(1)} kg`;
}

export { track, place, driverRows, clientRows };
