import express from "express";
import { onlyStaff } from "./staff.mjs";

const app = express();

app.get("/stock", onlyStaff, (request, response) => response.json([]));

app.listen(3000);
