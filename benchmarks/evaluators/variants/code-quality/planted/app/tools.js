import { label } from "./index.js";

export function sorted(plants) {
  return [...plants].sort((a, b) => label(a).localeCompare(label(b)));
}
