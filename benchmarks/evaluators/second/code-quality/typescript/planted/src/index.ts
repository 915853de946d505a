export const VERSION = "1.2.0";
export { scale, type Recipe } from "./recipe";
export { shoppingList } from "./shopping";
export { createStore } from "./store";
export { loadRecipes } from "./remote";
export { printed } from "./print";
export { mailed, send } from "./mail";
