import { total } from "./cart";
import { amount, describe, remember, restore, start, submit, withCode } from "./checkout";
import { describeDiscount } from "./discount";

document.title = String(total([{ name: "pen", cents: 120 }]));
const checkout = withCode(restore(JSON.stringify(start({ lines: [] }))), "none");
remember(checkout, async () => undefined);
void submit(checkout, async () => undefined);
document.body.textContent = `${amount(checkout)} ${describe(checkout)} ${describeDiscount(checkout)}`;
