"""Named points at which a test may kill this process; each does nothing unless FLYBALL_FAULT_KILL was set at start.

`FLYBALL_FAULT_KILL=7` ends the process with SIGKILL at the seventh point it reaches, whatever its name;
`FLYBALL_FAULT_KILL=journal.append.after:3` at the third point of that name. A sweep raises the number until a run
survives. The last line on standard error names the point. Code calls `faults.point("room.deed.when")` where a crash
would be felt, and knows nothing else of faults. The warden and the agents it starts never read the variable.
"""

import itertools
import os
from collections.abc import Callable


def nothing(_name: str) -> None:
    """What every point does outside a crash test."""


def killing_at(order: str) -> Callable[[str], None]:
    """A point that kills this process as `order` says: `N` or `NAME:N`; an empty order kills nothing."""
    if not order:
        return nothing
    wanted, _, number = order.rpartition(":")
    if not number.isdigit() or int(number) < 1:
        raise ValueError(f"FLYBALL_FAULT_KILL is {order!r}; expected a number from 1, or NAME:NUMBER.")
    import signal  # noqa: PLC0415 - it takes a millisecond, and a hook waits for it

    last, count = int(number), itertools.count(1)

    def killing(name: str) -> None:
        if wanted in ("", name) and next(count) == last:
            os.write(2, f"FLYBALL_FAULT_KILL: killed at {name}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    return killing


point: Callable[[str], None] = killing_at(os.environ.get("FLYBALL_FAULT_KILL", ""))  # noqa: TID251 - its one reader
"""Called where a crash would be felt, with a name that says where."""
