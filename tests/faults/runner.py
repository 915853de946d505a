"""Runs flyball in forks of one warm process, so that thousands of starts cost no imports; started by `world.warm`.

Each line of standard input is one order in JSON; each line of standard output says how that run ended. A run may be told to
keep an image of the disk at each fault point it passes: what SIGKILL at that point would leave. Images that are byte for byte
like the one before them are kept as a name only.
"""

import hashlib
import importlib
import json
import os
import pkgutil
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

import flyball
from flyball import faults
from flyball.cli.app import app
from flyball.journal import codec

# Commands import what they need when they are called, which would be half of what a fork does.
for _module in pkgutil.walk_packages(flyball.__path__, "flyball."):
    if not _module.name.startswith(("flyball.testing", "flyball.web")):
        importlib.import_module(_module.name)

# Neither the table of commands nor the reader of events is changed by a run.
command = typer.main.get_command(app)
codec._decoder()

BLOCK = 24
"""Points in a row that one share gets, so that like images meet."""


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            play(order)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def play(order: dict[str, Any]) -> None:
    """Become one flyball process; never returns."""
    os.setsid()
    for stream, target in ((0, os.devnull), (1, order["output"]), (2, order["output"])):
        os.dup2(os.open(target, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), stream)
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    faults.point = faults.killing_at(order["kill"])
    if order["images"]:
        faults.point = picturing(Path(order["world"]), Path(order["images"]), order["wanted"])
    code: object = 1
    try:
        command(order["arguments"])
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def picturing(world: Path, images: Path, wanted: list[int]) -> Callable[[str], None]:
    """A point that copies the world as it is now to `images/NUMBER`, for the share of numbers that is wanted."""
    share, shares = wanted
    count, last = 0, ""

    def picture(name: str) -> None:
        nonlocal count, last
        count += 1
        if count // BLOCK % shares != share:
            return
        now = glance(world)
        if now != last:
            copy(world, images / f"{count:04d}")
        with (images / "points").open("a") as points:
            points.write(f"{count} {name} {'same' if now == last else 'new'}\n")
        last = now

    return picture


def glance(folder: Path) -> str:
    """Changes whenever anything in a folder does."""
    seen = []
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            facts = os.lstat(f"{above}/{name}")
            changes = facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_mode
            seen.append(f"{above}/{name} {changes if name in files else facts.st_mode}")
    return hashlib.sha256("\n".join(seen).encode("utf-8", "surrogateescape")).hexdigest()


def copy(world: Path, image: Path) -> None:
    """Copy a world; what git has stored is never written again, so a second name for it is copy enough."""
    for above, folders, files in os.walk(world):
        place = f"{image}{above.removeprefix(str(world))}"
        os.mkdir(place, 0o700)
        for name in (*folders, *files):
            source, target = f"{above}/{name}", f"{place}/{name}"
            if os.path.islink(source):
                os.symlink(os.readlink(source), target)
            elif name in files and "/objects/" in above:
                os.link(source, target)
            elif name in files:
                shutil.copy2(source, target)


if __name__ == "__main__":
    main()
