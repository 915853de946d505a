"""Never ends and never says a word; `--talking` keeps saying some."""

import sys
import time

while True:
    time.sleep(0.2)
    if "--talking" in sys.argv:
        print("still thinking", flush=True)
