import sys

from courier.depots import depot_of
from courier.imports import read_lines
from courier.labels import label, merge, weight_label, zone_number
from courier.parcels import Parcel, is_heavy
from courier.prices import domestic_price, export_price


def main() -> None:
    parcel = Parcel(sys.argv[1], int(sys.argv[2]), "A")
    sys.stdout.write("heavy\n" if is_heavy(parcel) else "light\n")
    sys.stdout.write(f"{label(parcel)} {weight_label(parcel)} {zone_number(parcel.zone)} {depot_of(parcel)}\n")
    sys.stdout.write(f"{domestic_price(parcel)} {export_price(parcel)}\n")
    sys.stdout.write(f"{len(merge(read_lines(sys.argv[3]), [parcel]))}\n")
