import express from "express";
import { requireUser } from "./guard.js";
import { rooms } from "./client.js";

export const app = express();

app.get("/health", (request, response) => response.send("ok"));
app.post("/notes", requireUser, (request, response) => response.sendStatus(204));
app.delete("/notes/:id", requireUser, (request, response) => response.sendStatus(204));
app.get("/list", async (request, response) => response.json(await rooms()));
