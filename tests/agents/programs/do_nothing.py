"""Reads the prompt, changes nothing, says nothing."""

import sys

sys.stdin.read()
