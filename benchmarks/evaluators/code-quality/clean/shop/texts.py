"""Texts that orders and invoices share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shop.stock import Article


def money(cents: int) -> str:
    # money(1205) is "12.05", and money(5) is "0.05"
    euros, rest = divmod(cents, 100)
    return f"{euros}.{rest:02d}"


def table(articles: Iterable[Article], last: str) -> str:
    """A line for each article, the total, and a last line."""
    lines = []
    cents = 0
    for article in articles:
        if article.left == 0:
            lines.append(f"{article.name}: sold out")
            continue
        cents += article.cents
        lines.append(f"{article.name}: {money(article.cents)}")
    return "\n".join((*lines, f"total: {money(cents)}", last))
