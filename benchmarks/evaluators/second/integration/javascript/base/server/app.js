import express from "express";

export const app = express();

app.get("/api/shows", (_request, response) => response.json([]));
