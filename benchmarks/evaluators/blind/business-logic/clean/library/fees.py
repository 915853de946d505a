HIGHEST_FINE = 1000


def fine(days_late: int) -> int:
    return min(max(days_late, 0) * 20, HIGHEST_FINE)


def is_blocked(fines: int) -> bool:
    return fines > 500


def pay(fines: int, cents: int) -> int:
    if not 0 < cents <= fines:
        raise ValueError(f"{cents} cents cannot be paid")
    return fines - cents


def may_read(age: int, for_adults: bool) -> bool:
    return age >= 12 or not for_adults


def is_lapsed(days: int) -> bool:
    return days > 3
