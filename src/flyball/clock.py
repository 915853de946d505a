"""The only source of time and of identifiers: everything else is handed a clock."""

import secrets
import time
from datetime import UTC, datetime, time as time_of_day, timedelta


def local_day(now: datetime) -> tuple[datetime, datetime]:
    """The beginning of the calendar day where this machine is, and that of the next; a day in which clocks are changed is longer or shorter."""
    today = now.astimezone().date()
    midnights = (datetime.combine(day, time_of_day()) for day in (today, today + timedelta(days=1)))
    # A midnight that clocks leave out is the moment at which they are put forward, by its timestamp alone.
    first, following = (datetime.fromtimestamp(midnight.timestamp(), UTC) for midnight in midnights)
    return first, following


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        return time.monotonic()

    def nonce(self) -> str:
        """A token nobody can guess: 128 bits, in hex."""
        return secrets.token_hex(16)


system_clock = SystemClock()
