import { marker } from "./marker";

const zoom = 12;

export function place(zone: string): string {
  return marker(zone, zoom);
}
