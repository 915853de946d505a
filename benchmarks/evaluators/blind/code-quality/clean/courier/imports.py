import logging
from pathlib import Path

from courier.parcels import Parcel

log = logging.getLogger(__name__)


def read_lines(path: str) -> list[Parcel]:
    found: list[Parcel] = []
    for row in Path(path).read_text().splitlines():
        try:
            number, grams, zone = row.split(";")
            found.append(Parcel(number, int(grams), zone))
        except ValueError as error:
            log.warning("a row was left out: %s: %s", row, error)
    return found
