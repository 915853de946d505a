"""How a program's turn ended, normalised: never by its exit status alone where more is known."""

import json
import re
import signal
import zoneinfo
from datetime import datetime, tzinfo
from typing import Any

import msgspec

from flyball.agents.reading.echo import Echo
from flyball.agents.reading.loose_json import as_object, rounded_up
from flyball.agents.reading.prices import add_price
from flyball.agents.run.frame import ProgramRun
from flyball.core.claims.claims import read_claim
from flyball.core.claims.values import Claim
from flyball.core.model.outcomes import ABSENT, LIMITED, TurnEnded, TurnKind, Usage
from flyball.core.providers.limits import Limit, recognise, recognise_error, says_error
from flyball.core.providers.reset_times import known_zones
from flyball.core.text.scrubbing import decode, scrub
from flyball.process import Exit

MESSAGE_BYTES = 64 * 1024
DETAIL = 500
NAME = 100
CLEAN_EXIT = 'a clean exit counts as its signal (exit_signal = "exit-0")'

IN_SANDBOX = (
    "flyball's sandbox keeps all but the repository, /tmp and the agent's own folders read-only; "
    "have it write there, or start the task with --sandbox none"
)
_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
# A sandbox starts before the program, so a missing program is its exit and not ours.
_SANDBOX_MISSING = re.compile(r"bwrap: execvp (.+): (No such file or directory|Permission denied|Exec format error)")


def read_command_turn(ran: ProgramRun, *, exit_is_signal: bool = False) -> TurnEnded:
    """What happened in a turn of a program nothing more is known of."""
    end = ran.end
    message = decode(_whole_characters(end.stdout_tail[-MESSAGE_BYTES:], cut=end.stdout_bytes > MESSAGE_BYTES))
    claim = claim_of(ran, message)
    reported = claim.source == "report-file"
    limit = _limit(end, _reported_error(ran.report) if reported else None, ran.said_at, trusted=reported)
    kind, detail = (limit.kind, limit.detail) if limit else ending(end)
    if kind == "ok" and exit_is_signal and claim.source == "none":
        claim, detail = msgspec.structs.replace(claim, exit_signal=True), CLEAN_EXIT
    return TurnEnded(
        kind,
        with_sandbox(detail[:DETAIL], kind, ran),
        claim,
        cost(kind, reported_usage(claim), reported_model(claim) or ran.turn.request.model),
        round(end.seconds, 3),
        end.code if end.ended_by == "exit" else None,
        limit.reset_at if limit else None,
        transcript=str(ran.transcript.folder),
        final_message=scrub(message)[-MESSAGE_BYTES:],
        stray_processes=end.strays,
        model=reported_model(claim) or ran.turn.request.model,
    )


def with_sandbox(detail: str, kind: TurnKind, ran: ProgramRun) -> str:
    """What a crash says, and where it could not write for the sandbox's sake, that and what to do."""
    said = detail + decode(ran.end.stderr_tail) + decode(ran.end.stdout_tail[-DETAIL:])
    blamed = ran.sandboxed and kind == "crashed" and any(words in said for words in ("Read-only file system", "EROFS"))
    return f"{detail} ({IN_SANDBOX})" if blamed else detail


def claim_of(ran: ProgramRun, message: str) -> Claim:
    turn = ran.turn
    claim = read_claim(
        report_file=ran.report, final_message=message, nonce=turn.nonce, prompt=turn.prompt, echoed=Echo(turn.tree)
    )
    return msgspec.structs.replace(claim, problems=(ran.unreadable, *claim.problems)) if ran.unreadable else claim


def ending(end: Exit) -> tuple[TurnKind, str]:
    match end.ended_by:
        case "missing":
            return "not_installed", end.detail
        case "stop":
            return "interrupted", end.detail
        case "wall" | "idle":
            return "timed_out", f"{end.detail} (it ran {end.seconds:.1f} s)"
        case "exit":
            return _ending_by_exit(end)


def _ending_by_exit(end: Exit) -> tuple[TurnKind, str]:
    if end.code == 0:
        return "ok", end.detail
    number = _signal(end)
    lines = [line.strip() for line in scrub(decode(end.stderr_tail)).splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    missing = _SANDBOX_MISSING.fullmatch(last)
    if missing and end.code == 1 and not end.stdout_bytes:
        reason = f"{missing[1]} cannot be started ({missing[2]}); install it, or give the full path of a program"
        return "not_installed", reason
    if number is not None:
        kind: TurnKind = "killed" if number in _FROM_OUTSIDE else "crashed"
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return kind, ": ".join(filter(None, (f"ended by {name}", last or end.detail)))
    if end.code is None:
        return "crashed", end.detail
    return "crashed", f"exit status {end.code}: {last or 'nothing on standard error'}"


def _signal(end: Exit) -> int | None:
    """The signal that ended the program; shells and sandboxes pass it on as 128 and its number."""
    if end.signal is not None:
        return end.signal
    if end.code is not None and 128 < end.code <= 128 + signal.SIGSYS:
        return end.code - 128
    return None


def _limit(end: Exit, reported: Any, now: datetime, *, trusted: bool) -> Limit | None:
    if end.ended_by in ("missing", "stop"):
        return None
    limit = recognise_error(reported, now, zones)
    if limit is not None:
        return limit
    if end.ended_by == "exit" and _signal(end) is not None:
        return None
    last = _last_object(end.stdout_tail)
    if end.code != 0 or (says_error(last) and not trusted):
        limit = recognise_error(last, now, zones)
    code = end.code if end.ended_by == "exit" else None
    return limit or recognise(decode(end.stderr_tail), code, now, zones)


def _reported_error(report: bytes | None) -> Any:
    """The `error` object of a report, by which a program may say that it is limited."""
    error = as_object(report or b"").get("error")
    return {"type": error} if isinstance(error, str) else error


def _last_object(stdout: bytes) -> Any:
    """The JSON object standard output ends with: its last line, or from the last line that only opens one."""
    lines = decode(stdout).rstrip().splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("{")]
    if not starts:
        return None
    try:
        return json.loads("\n".join(lines[starts[-1] :]))
    except (ValueError, RecursionError):
        return None


def zones(name: str) -> tzinfo | None:
    known = known_zones(name)
    if known is not None or "/" not in name:
        return known
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def reported_usage(claim: Claim) -> Usage:
    """What the report's metrics say was used; nothing is made up where they are silent."""
    amounts = {name: claim.metrics.get(name) for name in ("input_tokens", "output_tokens", "usd")}
    told = {
        name: float(value)
        for name, value in amounts.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**15
    }
    if not told:
        return Usage(estimated=True)
    usd = rounded_up(told["usd"]) if "usd" in told else None
    return Usage(int(told.get("input_tokens", 0)), int(told.get("output_tokens", 0)), usd)


def reported_model(claim: Claim) -> str:
    told = claim.metrics.get("model")
    return told.strip()[:NAME] if isinstance(told, str) else ""


def cost(kind: TurnKind, usage: Usage, model: str) -> Usage:
    """What a turn cost: as told, else by published prices; one that nobody took in cost nothing."""
    if kind in LIMITED | ABSENT and not usage.tokens and usage.usd is None:
        return msgspec.structs.replace(usage, usd=0.0)
    return add_price(usage, model)


def _whole_characters(tail: bytes, *, cut: bool) -> bytes:
    """A tail that begins within a character loses what is left of it."""
    if not cut:
        return tail
    start = next((at for at, byte in enumerate(tail[:4]) if byte & 0xC0 != 0x80), 0)
    return tail[start:]
