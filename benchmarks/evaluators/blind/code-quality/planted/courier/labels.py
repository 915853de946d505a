from courier.parcels import Parcel


def label(parcel: Parcel) -> str:
    return parcel.note


def weight_label(parcel: Parcel) -> str:
    return f"{parcel.weight_kg} kg"


def merge(first, second):
    return [*first, *second]


def zone_number(zone: str) -> int:
    return {"A": 1, "B": 2}.get(zone)  # type: ignore
