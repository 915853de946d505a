import pytest

from library.fees import fine, is_blocked, is_lapsed, may_read, pay
from library.loans import Loan, average_days, is_late, last_extension, move


def test_br_2_twenty_one_days():
    assert not is_late(Loan(20))
    assert not is_late(Loan(21))
    assert is_late(Loan(22))


def test_br_3_twenty_cents_a_day_and_never_more_than_1000():
    assert fine(0) == 0
    assert fine(1) == 20
    assert fine(49) == 980
    assert fine(50) == 1000
    assert fine(51) == 1000


@pytest.mark.parametrize(("age", "may"), [(11, False), (12, True), (13, True)])
def test_br_4_no_book_for_adults_under_twelve(age, may):
    assert may_read(age, for_adults=True) is may


def test_br_5_lapses_after_three_days():
    assert not is_lapsed(2)
    assert not is_lapsed(3)
    assert is_lapsed(4)


def test_br_6_blocked_by_fines_over_500():
    assert not is_blocked(499)
    assert not is_blocked(500)
    assert is_blocked(501)


def test_only_what_is_owed_is_paid():
    assert pay(100, 100) == 0
    with pytest.raises(ValueError, match="101 cents"):
        pay(100, 101)


def test_no_loans_have_no_average_and_no_extension():
    assert average_days([]) == 0.0
    assert last_extension(Loan(1)) is None


def test_a_loan_moves_as_declared():
    loan = Loan(1)
    move(loan, "active")
    with pytest.raises(ValueError, match="cannot become"):
        move(loan, "lost")
