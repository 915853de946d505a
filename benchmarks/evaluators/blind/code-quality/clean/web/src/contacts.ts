export interface Contact {
  name: string;
  city: string;
  phone: string;
}

export function contactRows(all: Contact[], query: string): string[] {
  const wanted = query.trim().toLowerCase();
  const rows: string[] = [];
  for (const each of all) {
    const name = each.name.trim();
    const city = each.city.trim();
    if (wanted && !name.toLowerCase().includes(wanted)) {
      continue;
    }
    const phone = each.phone.replace(/[^0-9+]/g, "");
    rows.push([name, city, phone].join(" | "));
  }
  rows.sort((left, right) => left.localeCompare(right));
  return rows.length > 0 ? rows : ["nobody"];
}
