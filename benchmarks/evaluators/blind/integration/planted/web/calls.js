import axios from "axios";

export async function slots(secret) {
  const answer = await fetch(`${process.env.API_URL}/slots`, { headers: { authorization: secret } });
  return answer.json();
}

export async function weather() {
  const { data } = await axios.get(process.env.WEATHER_URL);
  return data;
}

export function bookSlot(id) {
  return axios.create({ baseURL: process.env.API_URL }).post(`/slots/${id}`);
}
