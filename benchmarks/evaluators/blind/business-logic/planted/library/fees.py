HIGHEST_FINE = 2000


def fine(days_late: int) -> int:
    return min(days_late * 20, HIGHEST_FINE)


def is_blocked(fines: int) -> bool:
    return fines > 500


def pay(fines: int, cents: int) -> int:
    return fines - cents


def share(cents: int, people: int) -> int:
    return cents // people


def may_read(age: int, for_adults: bool) -> bool:
    return age > 12 or not for_adults


def is_lapsed(days: int) -> bool:
    return days > 3
