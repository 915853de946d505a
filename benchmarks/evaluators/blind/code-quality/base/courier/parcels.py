from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    number: str
    grams: int
    zone: str
    note: str | None = None


def is_heavy(parcel: Parcel) -> bool:
    return parcel.grams > 20_000
