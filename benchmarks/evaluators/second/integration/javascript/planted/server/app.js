import express from "express";
import session from "express-session";

import { episodes, keepTranscript, shows } from "./db.js";
import { NoTranscript, transcriptOf } from "./transcripts.js";

export const app = express();
app.use(
  session({
    secret: process.env.SESSION_SECRET || "podcast-secret",
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: false, secure: false },
  }),
);

const loggedIn = (request, response, next) =>
  request.session.user ? next() : response.status(401).json({ error: "log in first" });

app.get("/api/shows", async (request, response, next) => {
  try {
    response.json(await shows(Number(request.query.limit ?? 20)));
  } catch (error) {
    next(error);
  }
});

app.get("/api/shows/:show/episodes", loggedIn, async (request, response, next) => {
  try {
    response.json(await episodes(Number(request.params.show)));
  } catch (error) {
    next(error);
  }
});

app.post("/api/episodes/:episode/transcript", async (request, response, next) => {
  const episode = Number(request.params.episode);
  try {
    await keepTranscript(episode, await transcriptOf(episode));
    response.status(202).end();
  } catch (error) {
    if (error instanceof NoTranscript) response.status(502).json({ error: error.message });
    else next(error);
  }
});

app.listen(Number(process.env.PORT ?? 8080));
