import express from "express";
import { requireUser } from "./session.js";
import { bookSlot, slots, weather } from "./calls.js";

export const app = express();
const secret = process.env.JWT_SECRET || "clinic-dev-secret-2024";

app.get("/", requireUser, (request, response) => {
  response.send("Clinic");
});

app.get("/slots", requireUser, async (request, response) => {
  response.json(await slots(secret));
});

app.get("/weather", requireUser, async (request, response) => {
  response.json(await weather());
});

app.post("/admin/slots/:id/book", async (request, response) => {
  response.json(await bookSlot(request.params.id));
});
