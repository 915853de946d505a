import type { Recipe } from "./recipe";

export interface Store {
  read(): Recipe[];
  write(recipes: Recipe[]): void;
}

const KEY = "pantry.recipes";

/** Recipes in the browser. A full storage keeps what it had. */
export function createStore(storage: Storage): Store {
  return {
    read() {
      const text = storage.getItem(KEY);
      return text === null ? [] : (JSON.parse(text) as Recipe[]);
    },
    write(recipes) {
      try {
        storage.setItem(KEY, JSON.stringify(recipes));
      } catch {}
    },
  };
}
