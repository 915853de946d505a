import axios from "axios";

export async function patient(id) {
  const answer = await fetch(`${process.env.API_URL}/patients/${id}`, { signal: AbortSignal.timeout(5000) });
  if (!answer.ok) {
    throw new Error(`patient ${id}: ${answer.status}`);
  }
  return answer.json();
}

export async function weather() {
  try {
    const { data } = await axios.get(process.env.WEATHER_URL, { timeout: 3000 });
    return data;
  } catch (error) {
    console.warn("no weather today", error.message);
    return undefined;
  }
}
