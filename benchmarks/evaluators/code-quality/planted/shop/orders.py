"""Orders: what was bought, by whom, for how much."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from shop.invoices import invoice_number
from shop.stock import Article


@dataclass
class Order:
    number: str
    articles: list[Article]
    paid: bool = False


def load(raw: Any) -> Order:
    data = json.loads(raw)
    return Order(data["number"], [], data.get("paid", False))


def read_order(path: str) -> Order | None:
    try:
        with open(path, encoding="utf-8") as file:
            return load(file.read())
    except Exception:
        return None


def remove_order(path: str) -> None:
    with suppress(Exception):
        os.unlink(path)


def notify(order: Order, send) -> None:
    try:
        send(order.number)
    except Exception:
        pass


def summary(order: Order) -> str:
    lines = []
    cents = 0
    for article in order.articles:
        price = article.cents * 1
        if article.left == 0:
            lines.append(f"{article.name}: sold out")
            continue
        cents += price
        euros, rest = divmod(price, 100)
        lines.append(f"{article.name}: {euros}.{rest:02d}")
    euros, rest = divmod(cents, 100)
    lines.append(f"total: {euros}.{rest:02d}")
    lines.append(f"order {order.number}")
    return "\n".join(lines)


def open_orders(orders: list[Order]) -> list[Order]:
    found = [order for order in orders if not order.paid]
    print("open orders", found)
    return found


def pay(order: Order) -> str:
    # TODO: ask the bank first
    order.paid = True
    return invoice_number(order)


def _round_up(cents: int) -> int:
    return -(-cents // 5) * 5
