"""Honest, but prints bytes that are no text, with escape sequences among them."""

import os
import sys

from honest import main  # type: ignore[import-not-found]

noise = b"\x1b]0;title\x07\x1b[2J\x00\xff\xfe\xe2\x80\xae" + bytes(range(256)) + os.urandom(200_000)
sys.stdout.buffer.write(noise)
sys.stderr.buffer.write(noise)
sys.stdout.flush()
main()
