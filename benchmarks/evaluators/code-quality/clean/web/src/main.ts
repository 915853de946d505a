import { total } from "./cart";
import { amount, CheckoutUnreadable, remember, restore, submit, withCode } from "./checkout";

document.title = String(total([{ name: "pen", cents: 120 }]));
try {
  const checkout = withCode(restore(localStorage.getItem("checkout") ?? "{}"), "none");
  remember(checkout, localStorage);
  document.body.textContent = String(amount(checkout));
  document.body.title = await submit(checkout, async () => undefined);
} catch (error) {
  if (!(error instanceof CheckoutUnreadable)) {
    throw error;
  }
  document.body.textContent = error.message;
}
