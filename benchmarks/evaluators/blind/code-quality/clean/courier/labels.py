from courier.parcels import Parcel


def label(parcel: Parcel) -> str:
    return parcel.note or parcel.number


def weight_label(parcel: Parcel) -> str:
    return f"{parcel.grams / 1000} kg"


def merge(first: list[Parcel], second: list[Parcel]) -> list[Parcel]:
    return [*first, *second]


def zone_number(zone: str) -> int:
    return {"A": 1, "B": 2}.get(zone, 0)
