"""The command line."""

from shop.stock import Article, find


def main() -> None:
    print(find([Article("pen", 120, 3)], "pen"))
