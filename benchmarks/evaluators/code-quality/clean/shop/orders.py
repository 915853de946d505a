"""Orders: what was bought, by whom, for how much.

An order is kept as one JSON object: {"number": "7", "paid": false}.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shop.texts import table

if TYPE_CHECKING:
    from shop.invoices import Invoice
    from shop.stock import Article

log = logging.getLogger(__name__)


class Send(Protocol):
    def __call__(self, number: str) -> None: ...


@dataclass
class Order:
    number: str
    articles: list[Article]
    paid: bool = False
    invoice: Invoice | None = None


def load(raw: str) -> Order:
    data = json.loads(raw)
    return Order(str(data["number"]), [], bool(data.get("paid", False)))


def read_order(path: Path) -> Order | None:
    """The order in a file; None where there is none yet."""
    try:
        return load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def remove_order(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()


def notify(order: Order, send: Send) -> bool:
    """Whether the customer could be told; the order stands either way."""
    try:
        send(order.number)
    except OSError as error:
        log.warning("order %s: nobody was told: %s", order.number, error)
        return False
    return True


def pay(order: Order) -> str:
    # Twice is once: a second call finds the order paid and says so.
    if order.paid:
        return "paid before"
    order.paid = True
    return "paid"


def summary(order: Order) -> str:
    return table(order.articles, f"order {order.number}")
