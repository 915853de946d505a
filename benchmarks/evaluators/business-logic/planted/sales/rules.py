"""The rules of the shop."""

MOST_ARTICLES = 20


def gold_price(euros: int) -> float:
    return euros * 0.85


def fits(articles: int) -> bool:
    return articles < MOST_ARTICLES


def with_voucher(euros: int, used: bool) -> int:
    return euros if used else euros - 10


def link_is_valid(hours: int) -> bool:
    return hours <= 72


def needs_second_person(euros: int) -> bool:
    return euros > 500
