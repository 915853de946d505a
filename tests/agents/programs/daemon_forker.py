"""Honest, but leaves daemons of its own session behind that keep its output open."""

import os
import time

from honest import main  # type: ignore[import-not-found]

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os.wait()
main()
