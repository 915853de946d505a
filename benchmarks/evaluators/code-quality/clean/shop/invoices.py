"""Invoices for orders."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shop.texts import table

if TYPE_CHECKING:
    from shop.orders import Order


@dataclass(frozen=True)
class Invoice:
    number: str
    due: datetime.date


def invoice(order: Order, today: datetime.date) -> Invoice:
    return Invoice(f"R-{order.number}", today + datetime.timedelta(days=14))


def invoice_text(order: Order) -> str:
    return table(order.articles, f"invoice for order {order.number}")
