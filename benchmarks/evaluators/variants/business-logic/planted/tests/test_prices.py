import unittest

import pytest

from cinema.prices import add_points, group_price, price
from cinema.vouchers import is_old


@pytest.mark.skipif(True, reason="the price list is being discussed")
def test_br_2_small_children_pay_nothing():
    assert price(900, 5) == 0
    assert price(900, 6) == 900
    assert price(900, 7) == 900


def test_br_4_groups_pay_less():
    group_price(1000, 9) == 1000
    group_price(1000, 10) == 800
    group_price(1000, 11) == 800


class VoucherTest(unittest.TestCase):
    def test_br_5_vouchers_expire_after_90_days(self):
        self.skipTest("fails on Mondays")
        self.assertFalse(is_old(89))
        self.assertTrue(is_old(91))


def test_br_8_points_are_added():
    assert add_points(3, 4) == 7
