import { total } from "./cart";

document.title = String(total([{ name: "pen", cents: 120 }]));
