import { beds } from "./beds.js";
import * as tools from "./tools.js";

export function label(plant) {
  return `${plant.name} (${plant.litres} l)`;
}

export { beds };
