import axios from "axios";

const base = process.env.API_BASE;
const mode = process.env.NODE_ENV;
const tokenHeader = "x-request-token-2";
const client = axios.create({ baseURL: base, timeout: 10_000 });

export class RoomsUnavailable extends Error {}

export async function rooms() {
  const answer = await fetch(`${base}/rooms`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) {
    throw new RoomsUnavailable(`rooms: ${answer.status}`);
  }
  return answer.json();
}

export async function book(room) {
  const answer = await client.post("/bookings", { room }, { headers: { [tokenHeader]: mode } });
  return answer.data;
}
