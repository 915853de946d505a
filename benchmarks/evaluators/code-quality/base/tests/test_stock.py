from shop.stock import Article, find


def test_an_article_is_found_by_its_name():
    assert find([Article("pen", 120, 3)], "pen") is not None
