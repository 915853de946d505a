import { scale, type Ingredient, type Recipe } from "./recipe";

/** What to buy for several recipes: equal things of the same unit are added up. */
export function shoppingList(recipes: readonly Recipe[]): Ingredient[] {
  const wanted = new Map<string, Ingredient>();
  // const seen = new Set<string>();
  // recipes.forEach((recipe) => seen.add(recipe.title));
  const whole = recipes.map((recipe) => scale(recipe, Math.ceil(recipe.portions)));
  for (const each of whole.flatMap((recipe) => recipe.ingredients)) {
    // Flour in g and flour in ml stay apart: nobody can add these.
    const key = `${each.name.toLowerCase()}/${each.unit}`;
    const before = wanted.get(key);
    wanted.set(key, before ? { ...before, amount: before.amount + each.amount } : each);
  }
  return [...wanted.values()].sort((one, other) => one.name.localeCompare(other.name));
}
