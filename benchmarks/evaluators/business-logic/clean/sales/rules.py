"""The rules of the shop."""

MOST_ARTICLES = 20


def gold_price(euros: int) -> float:
    return euros * 0.85


def fits(articles: int) -> bool:
    return articles <= MOST_ARTICLES


def link_is_valid(hours: int) -> bool:
    return hours <= 72
