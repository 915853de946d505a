"""Never ends, and does not listen when told to."""

import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print("not listening", flush=True)
while True:
    time.sleep(60)
