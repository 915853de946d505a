// Shows a zone at one zoom level, as the map's library wants it.
export function marker(zone: string, zoom: number): string {
  return `${zone}@${zoom}`;
}
