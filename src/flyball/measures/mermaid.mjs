// Says of each Mermaid diagram what its parser says: `node mermaid.mjs FILE`, where FILE holds a JSON array of sources.
// The packages mermaid and jsdom are looked for where `npm install --global` puts them for any program of PATH, never in a
// project. Prints a JSON array of complaints ("" is none), or an object that names the package that is missing.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const places = (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((bin) => join(bin, "..", "lib", "node_modules"));

function located(name) {
  for (const place of places) {
    if (existsSync(join(place, name, "package.json"))) return createRequire(join(place, "x.js")).resolve(name);
  }
  return null;
}

// The parser wants a document to measure labels in, even when nothing is drawn.
async function parser() {
  const { JSDOM } = (await import(pathToFileURL(located("jsdom")))).default;
  const { window } = new JSDOM("<!doctype html><body></body>");
  Object.assign(globalThis, { window, document: window.document, Element: window.Element, DOMParser: window.DOMParser });
  const { default: mermaid } = await import(pathToFileURL(located("mermaid")));
  mermaid.initialize({ startOnLoad: false });
  return mermaid;
}

async function complaint(mermaid, source) {
  try {
    await mermaid.parse(source);
    return "";
  } catch (error) {
    return String(error?.message ?? error).split("\n").slice(0, 4).join(" ").slice(0, 200) || "it does not parse";
  }
}

const missing = ["mermaid", "jsdom"].find((name) => located(name) === null);
if (missing) {
  console.log(JSON.stringify({ missing }));
} else {
  const mermaid = await parser();
  const found = [];
  for (const source of JSON.parse(readFileSync(process.argv[2], "utf8"))) found.push(await complaint(mermaid, source));
  console.log(JSON.stringify(found));
}
