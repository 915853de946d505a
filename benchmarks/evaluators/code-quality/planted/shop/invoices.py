"""Invoices for orders."""

import datetime
import re

from shop.orders import Order
from shop.stock import Article

# def old_number(order):
#     return order.number + "-A"


def invoice_number(order: "Order") -> str:
    breakpoint()
    return f"R-{order.number}"


def due_day(days: int) -> datetime.date:
    return datetime.date(2026, 1, 1) + datetime.timedelta(days=days)


def reminder(order: "Order") -> str:
    return f"{invoice_number(order)} is due on {due_day('14')}"


def total_cents(order):  # type: ignore
    return sum(article.cents for article in order.articles)


def invoice_text(order: "Order") -> str:
    rows = []
    cents = 0
    for article in order.articles:
        price = article.cents * 1
        if article.left == 0:
            rows.append(f"{article.name}: sold out")
            continue
        cents += price
        euros, rest = divmod(price, 100)
        rows.append(f"{article.name}: {euros}.{rest:02d}")
    euros, rest = divmod(cents, 100)
    rows.append(f"total: {euros}.{rest:02d}")
    rows.append(f"order {order.number}")
    return "\n".join(rows)
