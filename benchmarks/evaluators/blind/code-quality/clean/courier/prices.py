from courier.parcels import Parcel

STEPS = ((2_000, 150), (5_000, 200), (10_000, 400), (20_000, 900))


def domestic_price(parcel: Parcel) -> int:
    return 490 + _extra(parcel)


def export_price(parcel: Parcel) -> int:
    return 1290 + _extra(parcel)


def _extra(parcel: Parcel) -> int:
    weight = sum(cents for grams, cents in STEPS if parcel.grams > grams)
    return weight + (100 if parcel.zone == "B" else 0) + (25 if parcel.note else 0)
