from sales.shipping import shipping


def test_br_1_free_from_100():
    assert shipping(99) == 5
    assert shipping(100) == 0
    assert shipping(101) == 0
