import pytest

from sales.orders import Order, rename
from sales.rules import fits, gold_price, link_is_valid


def test_br_2_gold_customers_get_15_percent_off():
    assert gold_price(200) == 200 * (100 - 15) / 100


@pytest.mark.parametrize(("articles", "answer"), [(19, True), (20, True), (21, False)])
def test_br_3_an_order_holds_only_so_much(articles, answer):
    assert fits(articles) is answer


def test_a_link_ends():
    """BR-5."""
    assert link_is_valid(71)
    assert link_is_valid(72)
    assert not link_is_valid(73)


def test_br_9_a_name_is_never_empty():
    with pytest.raises(ValueError):
        rename(Order(1), "")
