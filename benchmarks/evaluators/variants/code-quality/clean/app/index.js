import { beds } from "./beds.js";

export function label(plant) {
  return `${plant.name} (${plant.litres} l)`;
}

export { beds };
