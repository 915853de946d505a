"""A stage for whole runs: the demo's project with an agent that waits for a word, and a terminal of tmux's to watch it in."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import yaml

from flyball.core.model.task import TaskId
from flyball.core.roles.loop_roles import LOOP_ROLES
from flyball.wiring.presence import controller_of
from flyball.wiring.site import Site

TASK = TaskId("001-give-a-discount")
COMMAND = f"{shlex.quote(sys.executable)} -m flyball"
PATIENCE_S = 60.0


def told_to_run(role: str, **words: str) -> list[list[str]]:
    """The commands in the text of an exported role, in its order, with their capital words filled in."""
    (text,) = [each.text for each in LOOP_ROLES if each.name == role]
    return [[words.get(word, word) for word in shlex.split(line)] for line in re.findall(r"`flyball ([^`]+)`", text)]


def until(true: Callable[[], bool], what: Callable[[], str] = lambda: "it never became true") -> None:
    """Wait for something that comes by itself."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, what()
        time.sleep(0.05)


class Project:
    """The demo's project below a folder; its agent's first turn ends when it is told to."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "basket"
        self.env = {**os.environ, "HOME": str(place / "person"), "FLYBALL_HOME": str(place / "home"), "TZ": "UTC-5:30"}
        (place / "person").mkdir()
        data = resources.files("flyball").joinpath("demo")
        for name, text in yaml.safe_load(data.joinpath("sample.yaml").read_bytes()).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            filled = text.replace("PYTHON", sys.executable).replace("SANDBOX", "none")
            path.write_text(filled.replace("WORKFLOW", "tdd"))
        script = yaml.safe_load(
            resources.files("flyball.core.workflows.tdd").joinpath("demo", "script.yaml").read_bytes()
        )
        wait = {"run": f"until [ -e {place}/go ]; do sleep 0.05; done"}
        script["steps"][0]["do"][1:2] = [wait]
        (place / "script.yaml").write_text(yaml.safe_dump(script, allow_unicode=True))
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
            subprocess.run([*git, *words], cwd=self.root, check=True)
        self.flyball("trust", "--yes")

    def flyball(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "flyball", *words]
        return subprocess.run(
            command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False, timeout=5 * PATIENCE_S
        )

    def go(self) -> None:
        """Let the agent's first turn end."""
        (self.place / "go").touch()

    @property
    def site(self) -> Site:
        os.environ["FLYBALL_HOME"] = self.env["FLYBALL_HOME"]
        return Site.find(self.root)

    def controller(self) -> int | None:
        """The process that works on the task now."""
        holder = controller_of(self.site, TASK)
        return holder.pid if holder else None

    def processes(self) -> list[int]:
        """Everything that has the project's folder as its own: controllers, wardens, agents."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cwd").resolve().is_relative_to(self.place):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


class Terminal:
    """A terminal of tmux's own server, with a shell in the project's folder."""

    def __init__(self, project: Project, width: int = 80, height: int = 24) -> None:
        self._socket = project.place / "tmux"
        size = ("-x", str(width), "-y", str(height))
        shell = ["env", "-i", *(f"{k}={v}" for k, v in project.env.items() if k != "TMUX"), "PS1=$ ", "sh"]
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(project.root), shlex.join(shell))
        self._tmux("set-option", "-g", "window-size", "manual")

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", str(self._socket), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def run(self, *words: str) -> None:
        self.type(" ".join((COMMAND, *words)))
        self.press("Enter")

    def resize(self, width: int, height: int = 24) -> None:
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self, *, scrollback: bool = False) -> list[str]:
        past = ("-S", "-") if scrollback else ()
        return [line.rstrip() for line in self._tmux("capture-pane", "-p", *past).splitlines()]

    def shows(self, text: str, *, scrollback: bool = False) -> None:
        """Wait until a text can be read."""
        until(
            lambda: text in "\n".join(self.screen(scrollback=scrollback)),
            lambda: f"{text!r} is not on the screen:\n" + "\n".join(self.screen(scrollback=scrollback)),
        )

    def prompts(self) -> None:
        """Wait for the shell."""
        until(lambda: "\n".join(self.screen()).rstrip().endswith("$"), lambda: "\n".join(self.screen()))

    def modes(self) -> str:
        """How the terminal treats what is typed, as `stty` tells."""
        tty = self._tmux("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-a", "-F", tty], capture_output=True, text=True, check=True).stdout

    def close(self) -> None:
        subprocess.run(["tmux", "-S", str(self._socket), "kill-server"], capture_output=True, check=False)


MISSING = shutil.which("tmux") is None
