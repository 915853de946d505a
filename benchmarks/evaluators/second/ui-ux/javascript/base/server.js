import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };

createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  try {
    const body = await readFile(join("public", path === "/" ? "index.html" : path));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? TYPES[".html"] }).end(body);
  } catch {
    response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
  }
}).listen(Number(process.env.PORT), "127.0.0.1");
