MOST_LOANS = 5


def may_borrow(loans: int) -> bool:
    return 0 <= loans < MOST_LOANS
