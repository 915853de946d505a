export interface Parcel {
  number: string;
  grams: number;
  zone: string;
}

export function weight(parcel: Parcel): string {
  return `${(parcel.grams / 1000).toFixed(1)} kg`;
}
