interface ParcelEvent {
  at: string;
  text: string;
}

export async function track(number: string): Promise<ParcelEvent[]> {
  const answer = await fetch(`/api/parcels/${number}/events`);
  if (!answer.ok) {
    throw new Error(`parcel ${number}: ${answer.status}`);
  }
  const body: unknown = await answer.json();
  if (!Array.isArray(body)) {
    throw new Error(`parcel ${number}: not a list`);
  }
  try {
    localStorage.setItem(number, JSON.stringify(body));
  } catch (error) {
    console.warn("the parcel is not remembered", error);
  }
  return body.filter(isParcelEvent);
}

function isParcelEvent(value: unknown): value is ParcelEvent {
  return typeof value === "object" && value !== null && "at" in value && "text" in value;
}

export function hours(event: ParcelEvent): number {
  return Number(event.at.slice(11, 13));
}

export function lastText(events: ParcelEvent[]): string {
  return events.at(-1)?.text ?? "";
}
