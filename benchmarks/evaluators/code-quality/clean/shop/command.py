"""The command line."""

import datetime
import sys
from pathlib import Path

from shop.invoices import invoice, invoice_text
from shop.orders import notify, pay, read_order, remove_order, summary
from shop.stock import Article, find


def main() -> None:
    print(find([Article("pen", 120, 3)], "pen"))
    path = Path("order.json")
    order = read_order(path)
    if order is None:
        print("there is no order", file=sys.stderr)
        return
    print(pay(order), summary(order), invoice_text(order))
    order.invoice = invoice(order, datetime.date(2026, 1, 1))
    if notify(order, lambda number: print(number)):
        remove_order(path)
