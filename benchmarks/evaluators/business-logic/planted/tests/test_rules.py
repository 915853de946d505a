from sales.rules import fits, gold_price, link_is_valid, needs_second_person


def test_br_2_gold_customers_pay_less():
    assert gold_price(200) < 200


def test_br_3_an_order_holds_only_so_much():
    assert fits(3)
    assert not fits(50)


def test_br_5_a_link_ends():
    """After 72 hours."""
    assert link_is_valid(1)


def test_br_8_large_refunds():
    assert needs_second_person(501)
