import logging

from courier.parcels import Parcel

log = logging.getLogger(__name__)


def read_lines(path: str) -> list[Parcel]:
    found: list[Parcel] = []
    try:
        rows = open(path).read().splitlines()
    except:
        return []
    for row in rows:
        try:
            number, grams, zone = row.split(";")
            found.append(Parcel(number, int(grams), zone))
        except Exception:
            continue
    return found


def notify(hook, parcel: Parcel) -> None:
    try:
        hook(parcel)
    except Exception as error:
        log.debug("hook: %s", error)
