import type { Ingredient, Recipe } from "./recipe";

/** What to buy for several recipes: equal things of the same unit are added up. */
export function shoppingList(recipes: readonly Recipe[]): Ingredient[] {
  const wanted = new Map<string, Ingredient>();
  for (const each of recipes.flatMap((recipe) => recipe.ingredients)) {
    // Flour in g and flour in ml stay apart: nobody can add these.
    const key = `${each.name.toLowerCase()}/${each.unit}`;
    const before = wanted.get(key);
    wanted.set(key, before ? { ...before, amount: before.amount + each.amount } : each);
  }
  return [...wanted.values()].sort((one, other) => one.name.localeCompare(other.name));
}
