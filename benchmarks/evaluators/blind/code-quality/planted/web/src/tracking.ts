interface Event {
  at: string;
  text: string;
}

export async function track(number: string): Promise<Event[]> {
  const answer = await fetch(`/api/parcels/${number}/events`);
  const body = (await answer.json()) as any;
  try {
    localStorage.setItem(number, JSON.stringify(body));
  } catch (error) {
    // ignore
  }
  remember(number).catch(() => {});
  return body.events;
}

async function remember(number: string): Promise<void> {
  // FIXME: does not work in Safari
  debugger;
  // @ts-ignore
  window.lastParcel = number;
}

export function hours(event: Event): number {
  const minutes: number = event.at.slice(11, 13);
  return minutes / 60;
}

export function first(events: Event[]): string {
  return (events as unknown as { text: string }).text;
}
