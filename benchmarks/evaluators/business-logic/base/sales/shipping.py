"""What sending costs."""


def shipping(euros: int) -> int:
    return 0 if euros >= 100 else 5
