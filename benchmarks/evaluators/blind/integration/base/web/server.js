import express from "express";
import { requireUser } from "./session.js";

export const app = express();

app.get("/", requireUser, (request, response) => {
  response.send("Clinic");
});
