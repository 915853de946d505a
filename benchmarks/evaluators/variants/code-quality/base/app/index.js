export function label(plant) {
  return `${plant.name} (${plant.litres} l)`;
}
