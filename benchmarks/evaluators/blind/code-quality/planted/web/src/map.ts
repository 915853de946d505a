import { marker } from "./marker";

export const zoom = 12;

export function place(zone: string): string {
  return marker(zone);
}
