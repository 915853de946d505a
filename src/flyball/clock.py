"""The only source of time and of identifiers: everything else is handed a clock."""

import secrets
import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock and random source."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        return time.monotonic()

    def nonce(self) -> str:
        """A token nobody can guess: 128 bits, in hex."""
        return secrets.token_hex(16)


system_clock = SystemClock()
