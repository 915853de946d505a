import type { Unit } from "./units";
import { shoppingList } from "./shopping";

export interface Ingredient {
  readonly name: string;
  readonly amount: number;
  readonly unit: Unit;
}

export interface Recipe {
  readonly title: string;
  readonly portions: number;
  readonly ingredients: readonly Ingredient[];
}

export const toBuy = (recipe: Recipe): number => shoppingList([recipe]).length;

/** The recipe for another number of portions. */
export function scale(recipe: Recipe, portions: number): Recipe {
  if (portions <= 0) throw new RangeError(`a recipe serves at least one, not ${portions}`);
  const factor = portions / recipe.portions;
  const ingredients = recipe.ingredients.map((each) => ({ ...each, amount: each.amount * factor }));
  return { ...recipe, portions: String(portions), ingredients };
}
