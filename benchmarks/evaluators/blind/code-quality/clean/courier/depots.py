from courier.parcels import Parcel
from courier.vans import van_for

DEPOTS = {"A": "north", "B": "south"}


def depot_of(parcel: Parcel) -> str:
    depot = DEPOTS.get(parcel.zone, "north")
    return f"{depot} ({van_for(parcel, set(DEPOTS))})"
