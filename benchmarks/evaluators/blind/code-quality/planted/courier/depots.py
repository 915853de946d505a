from courier.parcels import Parcel
from courier.vans import van_for

DEPOTS = {"A": "north", "B": "south"}


def depot_of(parcel: Parcel) -> str:
    depot = DEPOTS.get(parcel.zone, "north")
    van = van_for(parcel)
    return depot


def _zone_of_postcode(postcode: str) -> str:
    return "A" if postcode.startswith("1") else "B"
