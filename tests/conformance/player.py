"""A program that does what a `Play` says, for tests of agents that run programs."""

from __future__ import annotations

import json
import sys

from tests.conformance.agent_suite import Play

PLAYER = """
import json, os, signal, subprocess, sys, time
play = json.loads(sys.argv[1])
prompt = sys.stdin.buffer.read()
for path, text in play.get("write", {}).items():
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
if play["prompt_to"]:
    open(play["prompt_to"], "wb").write(prompt)
if play["daemon"]:
    null = subprocess.DEVNULL
    subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=null, stdout=null, stderr=null)
if play["output_bytes"]:
    block = os.urandom(100_000) if play["binary"] else b"babble " * 15_000
    left = play["output_bytes"]
    while left > 0:
        left -= sys.stdout.buffer.write(block[:left])
    print(flush=True)
if play["ignore_sigterm"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(play["sleep_s"])
if play["report"] is not None:
    report = {"nonce": os.environ["FLYBALL_NONCE"], **play["report"]}
    json.dump({k: v for k, v in report.items() if v is not None}, open(os.environ["FLYBALL_REPORT_FILE"], "w"))
print(json.dumps({"text": play["say"], "end": True}) if "--events" in sys.argv else play["say"], flush=True)
print(play["stderr"], file=sys.stderr)
sys.exit(play["exit_code"])
"""


def player(play: Play, *more: str) -> tuple[str, ...]:
    """The command that plays it; with "--events" it says its last words as an event."""
    if play.missing:
        return ("no-such-program-anywhere",)
    told = {name: getattr(play, name) for name in Play.__struct_fields__}
    return (sys.executable, "-c", PLAYER, json.dumps(told), *more)
