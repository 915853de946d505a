import type { Ingredient, Recipe } from "./recipe";
import { isUnit } from "./units";

interface Row {
  title: string;
  serves: number;
  parts: { name: string; amount: number; unit: string }[];
}

function ingredientOf(part: Row["parts"][number]): Ingredient {
  if (!isUnit(part.unit)) throw new TypeError(`unknown unit ${part.unit}`);
  return { name: part.name, amount: part.amount, unit: part.unit };
}

/** The recipes of a server, at most five seconds waited for. */
export async function loadRecipes(url: string): Promise<Recipe[]> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const rows = (await answer.json()) as Row[];
  return rows.map((row) => ({ title: row.title, portions: row.serves, ingredients: row.parts.map(ingredientOf) }));
}
