import type { Recipe } from "./recipe";

export function mailed(recipe: Recipe): string[] {
  const lines: string[] = [];
  lines.push(recipe.title.toUpperCase());
  lines.push("=".repeat(recipe.title.length));
  for (const each of recipe.ingredients) {
    const rounded = Math.round(each.amount * 10) / 10;
    const amount = rounded === 0 ? "a little" : String(rounded);
    const unit = each.unit === "piece" ? "" : ` ${each.unit}`;
    lines.push(`- ${amount}${unit} ${each.name}`);
  }
  if (recipe.ingredients.length === 0) {
    lines.push("(nothing to buy)");
  }
  lines.push(`serves ${recipe.portions}`);
  return lines;
}

export function send(recipe: Recipe, to: string): void {
  fetch("/mail", { method: "POST", body: JSON.stringify({ to, lines: mailed(recipe) }) }).catch(() => {});
}
