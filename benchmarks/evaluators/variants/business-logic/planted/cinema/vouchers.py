from datetime import date, timedelta

VALID = timedelta(days=90)


def is_expired(bought: date, today: date) -> bool:
    return today - bought >= VALID


def days_left(age_days: int) -> int:
    if 90 - age_days < 0:
        return 0
    return 90 - age_days


def is_old(age_days: int) -> bool:
    return age_days >= 90
