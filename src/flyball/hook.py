"""`flyball hook stop`: an agent's own Stop hook asks whether the work in its folder is done.

It runs at every stop of every conversation, so it needs the standard library only until there is a backlog to read, and
it must never be felt: whatever goes wrong is one sentence on stderr and the agent stops. It reads what flyball measured; it
does not measure. It keeps an agent from stopping a few times at most (programs override the ninth block in a row themselves).
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO

from flyball.documents.governed import governing
from flyball.documents.own_files import keep, key_of

MOST_BLOCKS = 6
MOST_ALIKE = 3
"""The same reason given so often will not help when it is given once more."""
EVENTS = ("stop",)
_GEMINI = "AfterAgent"
_SHOWN = 5


class HookVerdict(NamedTuple):
    decision: str
    reason: str
    look: str


class BadEvent(Exception):
    """What came on standard input is no event of a hook."""


def main(words: list[str]) -> int:
    """Answer one event; the exit code is never 2, which programs take for a block."""
    if words[:1] != ["stop"]:
        said = " ".join(words) or "nothing"
        sys.stderr.write(f"flyball: there is no hook for {said!r}; expected: flyball hook {'|'.join(EVENTS)}\n")
        return 1
    try:
        answer = stop(sys.stdin, os.environ)
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the host must go on, whatever is wrong here
        sys.stderr.write(f"flyball: the Stop hook gave no verdict: {type(error).__name__}: {error}\n")
    return 0


def stop(stdin: TextIO, environment: Mapping[str, str]) -> dict[str, str] | None:
    """What to answer to an agent that is about to stop; None lets it."""
    event = _event(stdin)  # read in any case: a host may not expect its pipe to break
    if environment.get("FLYBALL_NONCE"):
        return None  # flyball drives this turn, and measures it when it ends
    home = _home(environment)
    streak = _Streak(home, event)
    verdict = _verdict(home, str(event.get("cwd") or os.getcwd()))
    if verdict is None or verdict.decision == "DONE":
        streak.end()
        return None
    if verdict.decision != "CONTINUE":
        streak.end()
        return {"systemMessage": f"flyball: {verdict.decision}: {verdict.reason} See: {verdict.look}"}
    if not streak.may_block(verdict.reason):
        return {
            "systemMessage": f"flyball lets the agent stop, though it is not done: {verdict.reason} See: {verdict.look}"
        }
    decision = "deny" if event.get("hook_event_name") == _GEMINI else "block"
    return {"decision": decision, "reason": f"flyball: CONTINUE: {verdict.reason}"}


def _event(stdin: TextIO) -> dict[str, Any]:
    try:
        event = json.loads(stdin.read())
    except (ValueError, RecursionError) as error:
        raise BadEvent(f"standard input is not JSON ({error})") from error
    if not isinstance(event, dict):
        raise BadEvent("standard input is not a JSON object")
    return event


def _home(environment: Mapping[str, str]) -> str:
    """Where flyball keeps its own, as `config.home` finds it, without what that imports."""
    named = environment.get("FLYBALL_HOME", "")
    if named:
        return os.path.expanduser(named)
    if sys.platform != "linux":
        from flyball.config.home import home_folder

        return str(home_folder(environment))
    state = environment.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")
    return os.path.join(state, "flyball")


def _verdict(home: str, folder: str) -> HookVerdict | None:
    """The task that works in this tree is asked first, then a backlog."""
    for governed in governing(home, folder):
        if not _is_held(str(governed.get("lock", ""))):
            return _of_task(governed["verdict"])
        return None  # its controller works here now; whoever else does should not be sent on
    return _of_backlog(home, folder)


def _is_held(lock: str) -> bool:
    """Whether a controller holds its lock; a lock that names nobody was released, and is not even tried."""
    import fcntl

    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.pread(descriptor, 1, 0):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _of_task(known: dict[str, Any]) -> HookVerdict:
    task, decision = str(known.get("task", "")), str(known.get("decision", ""))
    reason = str(known.get("reason", "")).rstrip(".")
    if known.get("stopped") == "paused":
        return HookVerdict("PAUSED", f"{task}: {reason}.", f"flyball resume {task}")
    listed = known.get("missing")
    missing = [str(each) for each in listed[:_SHOWN]] if isinstance(listed, list) else []
    said = f"{task} is not done by flyball's measurement (stage {known.get('stage', '')}): {reason}."
    if missing:
        said += f" Missing: {'; '.join(missing)}."
    if decision == "CONTINUE":
        said += f" It is measured again with: {known.get('next_command') or f'flyball resume {task}'}"
    return HookVerdict(decision, said, f"flyball status {task}")


def _of_backlog(home: str, folder: str) -> HookVerdict | None:
    """The evaluator's word on the nearest `.work`; reading one takes longer than all the rest, so an unchanged one is not."""
    root = os.path.realpath(folder)
    while not os.path.isdir(os.path.join(root, ".work", "agent", "issues")):
        above = os.path.dirname(root)
        if above == root or os.path.exists(os.path.join(root, ".git")):
            return None
        root = above
    path = os.path.join(home, "hooks", f"backlog-{key_of(root)}")
    seen = _fingerprint(root)
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        if known["seen"] == seen:
            return HookVerdict(*known["verdict"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # it is read anew
    verdict = _evaluate(root)
    keep(path, json.dumps({"seen": seen, "verdict": list(verdict)}).encode())
    return verdict


def _evaluate(root: str) -> HookVerdict:
    # msgspec uses it where it is installed and does as well without; its import alone is half a bare start.
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    from flyball.documents.work_folder import WorkFolder
    from flyball.wiring.tools.evaluation import Given, evaluate_backlog, evaluate_settings

    settings = evaluate_settings(root)
    folder = WorkFolder(root, settings.ignore)
    found = evaluate_backlog(folder, Given(), validators=settings.validators)
    said = found.evaluation
    if said.trigger == "unverified" and not found.situation.backlog.unread and folder.is_done_still():
        return HookVerdict(
            "DONE", "The last decision was DONE, and no issue file has changed since.", "flyball evaluate"
        )
    following = f" Next issue: {said.next_issue}." if said.next_issue else ""
    return HookVerdict(said.decision, f"{said.reason.rstrip('.')}.{following}", "flyball evaluate --dry-run")


def _fingerprint(root: str) -> str:
    """What tells a backlog from the same one later: all its files, also in folders, and its settings."""
    from flyball import __version__

    found = [__version__, _facts(root, "flyball.toml")]
    agent = os.path.join(".work", "agent")
    for folder in (".work", agent):
        found += (_facts(root, os.path.join(folder, name)) for name in os.listdir(os.path.join(root, folder)))
    for folder, folders, names in os.walk(os.path.join(root, agent, "issues")):
        found += (_facts(root, os.path.relpath(os.path.join(folder, name), root)) for name in (*folders, *names))
    return key_of(*sorted(found))


def _facts(root: str, name: str) -> str:
    """A file's name, size and times; whoever gives it its old time back cannot do so for that of its last change."""
    try:
        facts = os.lstat(os.path.join(root, name))
    except FileNotFoundError:
        return name
    return f"{name} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"


class _Streak:
    """How often the agent of a conversation was kept from stopping in a row, in a file of flyball's own."""

    def __init__(self, home: str, event: dict[str, Any]) -> None:
        # A host that does not say whether it was kept before may have been.
        self._again = event.get("stop_hook_active") is not False
        self._path = os.path.join(
            home, "hooks", key_of(str(event.get("session_id") or event.get("transcript_path") or ""))
        )

    def may_block(self, reason: str) -> bool:
        """Count one more block; not more than a few, and not where they cannot be counted."""
        key = key_of(reason)
        last, blocks, alike = self._read() if self._again else ("", 0, 0)
        blocks, alike = blocks + 1, alike + 1 if last == key else 1
        if blocks > MOST_BLOCKS or alike > MOST_ALIKE:
            return False
        return keep(self._path, f"{key} {blocks} {alike}\n".encode()) or not self._again

    def end(self) -> None:
        if self._again and os.path.exists(self._path):
            os.unlink(self._path)

    def _read(self) -> tuple[str, int, int]:
        """A count that cannot be read is taken as used up."""
        try:
            with open(self._path, encoding="ascii") as file:
                key, blocks, alike = file.read(200).split()
            return key, int(blocks), int(alike)
        except FileNotFoundError:
            return "", 0, 0
        except (OSError, ValueError):
            return "", MOST_BLOCKS, 0
