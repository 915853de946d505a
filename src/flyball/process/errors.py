"""What can be wrong with starting a program, in words that say what to do next."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from flyball.ports import Refusal


class ProgramMissing(Refusal):
    """A program is not there or cannot be executed."""


class CommandTimedOut(Refusal):
    """A short command did not end in time and was killed."""


class WardenFailed(Refusal):
    """The warden process could not do its work; nothing was started, or all that was has been ended."""


def why_missing(program: str, cwd: Path, env: Mapping[str, str], step: str, error: int) -> str:
    reason = os.strerror(error)
    path = Path(cwd, program)
    if step == "chdir":
        return f"the folder {cwd} cannot be entered ({reason}); create it or choose another"
    if error == errno.ENOENT and "/" not in program:
        return f"{program!r} was not found on PATH ({env.get('PATH', '')}); install it or give its full path"
    if error == errno.ENOENT and path.exists():
        return f"{path} names an interpreter in its first line that does not exist; correct that line or install it"
    if error == errno.ENOENT:
        return f"{path} does not exist; correct the path"
    if error == errno.EACCES:
        return f"{path} may not be executed ({reason}); make it executable with chmod +x, or name another program"
    if error == errno.ENOEXEC:
        return f"{path} is not a program this machine can execute; give it a first line like #!/bin/sh"
    return f"{program!r} could not be started ({reason})"
