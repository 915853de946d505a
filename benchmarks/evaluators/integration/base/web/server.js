import express from "express";
import { requireUser } from "./guard.js";

export const app = express();

app.get("/health", (request, response) => response.send("ok"));
app.post("/notes", requireUser, (request, response) => response.sendStatus(204));
