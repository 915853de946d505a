import { zoom } from "./map";

export function marker(zone: string): string {
  console.log("marker", zone);
  return `${zone}@${zoom}`;
}

// export function oldMarker(zone: string) {
//   return zone.toLowerCase();
// }
