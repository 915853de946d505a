import { hours, lastText, track } from "./tracking";
import { place } from "./map";
import { contactRows } from "./contacts";

export interface Parcel {
  number: string;
  grams: number;
  zone: string;
}

export function weight(parcel: Parcel): string {
  return `${(parcel.grams / 1000).toFixed(1)} kg`;
}

export { track, hours, lastText, place, contactRows };
