"""What is in the store."""

from dataclasses import dataclass


@dataclass
class Article:
    name: str
    cents: int
    left: int


def find(articles: list[Article], name: str) -> Article | None:
    return next((article for article in articles if article.name == name), None)
