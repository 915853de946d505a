import type { Ingredient, Recipe } from "./recipe";

interface Row {
  title: string;
  serves: number;
  parts: { name: string; amount: number; unit: string }[];
}

function ingredientOf(part: Row["parts"][number]): Ingredient {
  return part as any;
}

function retryDelay(attempt: number): number {
  return 2 ** attempt * 100;
}

/** The recipes of a server, at most five seconds waited for. */
export async function loadRecipes(url: string): Promise<Recipe[]> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const rows = (await answer.json()) as Row[];
  console.log(rows);
  return rows.map((row) => ({ title: row.title, portions: row.serves, ingredients: row.parts.map(ingredientOf) }));
}
