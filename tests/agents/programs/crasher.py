"""Crashes each time, half way through an edit. `--signal` ends it by SIGSEGV instead of an exception."""

import os
import signal
import sys
from pathlib import Path

sys.stdin.read()
Path("half-written.txt").write_text("half a se")
if "--signal" in sys.argv:
    os.kill(os.getpid(), signal.SIGSEGV)
raise RuntimeError("the model's answer could not be read")
