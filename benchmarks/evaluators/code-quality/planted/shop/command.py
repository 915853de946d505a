"""The command line."""

from shop.invoices import invoice_text, reminder, total_cents
from shop.orders import notify, open_orders, pay, read_order, remove_order, summary
from shop.stock import Article, find


def main() -> None:
    print(find([Article("pen", 120, 3)], "pen"))
    order = read_order("order.json")
    if order is not None and open_orders([order]):
        print(pay(order), summary(order), invoice_text(order), reminder(order), total_cents(order))
        notify(order, print)
        remove_order("order.json")
