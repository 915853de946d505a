from datetime import date, timedelta

VALID = timedelta(days=90)


def is_expired(bought: date, today: date) -> bool:
    return today - bought > VALID


def is_old(age_days: int) -> bool:
    return age_days > 90


def initials(words: list[str]) -> str:
    return "".join(word[0] for word in words if word)
