from library.members import may_borrow


def test_br_1_five_books_at_most():
    assert may_borrow(0)
    assert may_borrow(4)
    assert not may_borrow(5)
    assert not may_borrow(6)
