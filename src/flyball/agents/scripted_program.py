"""The scripted agent as a program of its own: `python -m flyball.agents.scripted_program SCRIPT` does the step for this turn.

Which step that is it takes from the variables every agent gets (FLYBALL_STAGE, FLYBALL_ROLE, FLYBALL_SUBTASK, FLYBALL_ITERATION,
FLYBALL_TURN) and from nothing else. docs/reference/scripted-agent.md has the whole language.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from flyball import process
from flyball.agents.scripted.script import CONDITIONS, Action, Replacement, ScriptInvalid, read_script

BAD_SCRIPT = 2
FAILED = 1
LONGEST_COMMAND_S = 3600.0


class _Ended(Exception):
    def __init__(self, code: int, reason: str = "") -> None:
        self.code, self.reason = code, reason


def main(argv: list[str], env: Mapping[str, str]) -> int:
    """Do the step for the turn `env` describes; gives back the exit status."""
    if len(argv) != 2:
        return _fail(BAD_SCRIPT, "expected one argument, the script's file")
    prompt = sys.stdin.buffer.read()
    try:
        script = read_script(Path(argv[1]).read_bytes(), argv[1])
    except (ScriptInvalid, OSError) as error:
        return _fail(BAD_SCRIPT, str(error))
    turn = {name: env.get(f"FLYBALL_{name.upper()}", "") for name in CONDITIONS}
    found = script.step_for(turn)
    if found is None:
        asked = ", ".join(f"{name} {value}" for name, value in turn.items() if value)
        return _fail(BAD_SCRIPT, f"{argv[1]} has no step for {asked}; add one, or a last one without `when`")
    place, step = f"step {found[0]}", found[1]
    try:
        for number, action in enumerate(step.do, 1):
            place = f"step {found[0]}, action {number}"
            _perform(action, env, prompt)
            sys.stdout.flush()
    except _Ended as ended:
        return _fail(ended.code, f"{place}: {ended.reason}" if ended.reason else "")
    except OSError as error:
        return _fail(FAILED, f"{place}: {error}")
    return 0


def _perform(action: Action, env: Mapping[str, str], prompt: bytes) -> None:
    match action.kind:
        case "run":
            _run(str(action.run), env, prompt)
        case "report":
            # The nonce is filled in unless the script has one of its own; null leaves it out.
            filled = {"nonce": env.get("FLYBALL_NONCE", ""), **(action.report or {})}
            if filled["nonce"] is None:
                del filled["nonce"]
            _put(Path(env["FLYBALL_REPORT_FILE"]), json.dumps(filled, ensure_ascii=False, indent=1) + "\n", "w")
        case "print" | "say" as kind:
            print(getattr(action, kind).replace("{nonce}", env.get("FLYBALL_NONCE", "")), flush=True)  # noqa: T201 - its output
        case "stderr":
            print(action.stderr, file=sys.stderr, flush=True)  # noqa: T201 - its output
        case "sleep":
            time.sleep(action.sleep or 0)
        case "exit":
            raise _Ended(action.exit or 0)
        case _:
            _edit(action)


def _edit(action: Action) -> None:
    match action.kind:
        case "write" | "append" as kind:
            for path, text in getattr(action, kind).items():
                _put(Path(path), text, "w" if kind == "write" else "a")
        case "delete":
            for path in action.deleted:
                _delete(Path(path))
        case "replace" if isinstance(action.replace, Replacement):
            _replace(action.replace)


def _put(path: Path, text: str, mode: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode, encoding="utf-8", newline="") as file:
        file.write(text)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()
    else:
        raise _Ended(FAILED, f"it deletes {path}, which does not exist")


def _replace(wanted: Replacement) -> None:
    path = Path(wanted.path)
    text = path.read_text(encoding="utf-8")
    if not wanted.old or text.count(wanted.old) != 1:
        raise _Ended(FAILED, f"the text to replace stands {text.count(wanted.old)} times in {path}; expected once")
    _put(path, text.replace(wanted.old, wanted.new), "w")


def _run(command: str, env: Mapping[str, str], prompt: bytes) -> None:
    """Commands get the prompt on standard input, as the agent itself did; one that fails ends the turn with its status."""
    done = process.capture(["/bin/sh", "-c", command], cwd=Path.cwd(), env=env, input=prompt, timeout=LONGEST_COMMAND_S)
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if done.code != 0:
        code = done.code if done.code > 0 else 128 - done.code
        raise _Ended(code, f"the command ended with status {code}: {command.strip()}")


def _fail(code: int, reason: str) -> int:
    if reason:
        print(f"scripted agent: {reason}", file=sys.stderr)  # noqa: T201 - its output
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv, dict(os.environ)))  # noqa: TID251 - a program of its own: the environment is its input
