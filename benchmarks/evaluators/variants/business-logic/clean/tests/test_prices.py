import sys
import unittest
from datetime import date, timedelta

import pytest

from cinema.prices import add_points, group_price, price
from cinema.vouchers import is_expired, is_old


@pytest.mark.skipif(sys.platform == "win32", reason="the till runs on Linux")
def test_br_2_small_children_pay_nothing():
    assert price(900, 5) == 0
    assert price(900, 6) == 900
    assert price(900, 7) == 900


@pytest.mark.parametrize(("people", "cents"), [(9, 1000), (10, 800), (11, 800)])
def test_br_4_groups_pay_20_percent_less(people, cents):
    assert group_price(1000, people) == pytest.approx(cents)


class VoucherTest(unittest.TestCase):
    def test_br_5_vouchers_expire_after_90_days(self):
        self.assertFalse(is_old(89))
        self.assertFalse(is_old(90))
        self.assertTrue(is_old(91))

    def test_br_5_by_date(self):
        bought = date(2026, 1, 1)
        self.assertFalse(is_expired(bought, bought + timedelta(days=90)))


def test_br_8_points_stop_at_500():
    assert add_points(490, 9) == 499
    assert add_points(490, 10) == 500
    assert add_points(490, 11) == 500
