import type { Recipe } from "./recipe";

export interface Store {
  read(): Recipe[];
  write(recipes: Recipe[]): void;
}

const KEY = "pantry.recipes";

/** Recipes in the browser. A full or forbidden storage is told to the caller once, by onFailure. */
export function createStore(storage: Storage, onFailure: (error: unknown) => void): Store {
  return {
    read() {
      const text = storage.getItem(KEY);
      return text === null ? [] : (JSON.parse(text) as Recipe[]);
    },
    write(recipes) {
      try {
        storage.setItem(KEY, JSON.stringify(recipes));
      } catch (error) {
        onFailure(error);
      }
    },
  };
}
