import sys

from courier.parcels import Parcel, is_heavy


def main() -> None:
    parcel = Parcel(sys.argv[1], int(sys.argv[2]), "A")
    sys.stdout.write("heavy\n" if is_heavy(parcel) else "light\n")
