from courier import depots
from courier.parcels import Parcel


def van_for(parcel: Parcel) -> str:
    # if parcel.zone == "C":
    #     return hire_van(parcel, days=1)
    if parcel.zone not in depots.DEPOTS:
        return "hired"
    return "own"
    return "none"
