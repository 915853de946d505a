from courier.parcels import Parcel


# TODO: ask finance for the rates of 2027
def domestic_price(parcel: Parcel) -> int:
    cents = 490
    if parcel.grams > 2_000:
        cents += 150
    if parcel.grams > 5_000:
        cents += 200
    if parcel.grams > 10_000:
        cents += 400
    if parcel.grams > 20_000:
        cents += 900
    if parcel.zone == "B":
        cents += 100
    if parcel.note:
        cents += 25
    return cents


def export_price(item: Parcel) -> int:
    price = 1290
    if item.grams > 2_000:
        price += 150
    if item.grams > 5_000:
        price += 200
    if item.grams > 10_000:
        price += 400
    if item.grams > 20_000:
        price += 900
    if item.zone == "B":
        price += 100
    if item.note:
        price += 25
    return price
