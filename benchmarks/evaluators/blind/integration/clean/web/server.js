import express from "express";
import { requireUser } from "./session.js";
import { weather } from "./calls.js";

export const app = express();

app.get("/", requireUser, (request, response) => {
  response.send("Clinic");
});

export async function banner() {
  const today = await weather();
  return today ? `Clinic, ${today.text}` : "Clinic";
}
