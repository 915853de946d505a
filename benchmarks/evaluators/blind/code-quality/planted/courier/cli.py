import json
import sys

from courier.depots import depot_of
from courier.imports import read_lines
from courier.labels import label, merge
from courier.parcels import Parcel, is_heavy
from courier.prices import domestic_price, export_price


def main() -> None:
    parcel = Parcel(sys.argv[1], int(sys.argv[2]), "A")
    breakpoint()
    sys.stdout.write("heavy\n" if is_heavy(parcel) else "light\n")
    sys.stdout.write(f"{label(parcel)} {depot_of(parcel)} {merge([], [])}\n")
    sys.stdout.write(f"{domestic_price(parcel)} {export_price(parcel)} {len(read_lines(sys.argv[3]))}\n")
