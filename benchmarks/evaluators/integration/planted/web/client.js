import axios from "axios";

const base = process.env.API_BASE;
const settings = { clientSecret: "9f2c7a61d0e84b3fa5c1" };

export async function rooms() {
  const answer = await fetch(`${base}/rooms`);
  return answer.json();
}

export async function book(room) {
  const answer = await axios.post(`${base}/bookings`, { room, ...settings });
  return answer.data;
}
