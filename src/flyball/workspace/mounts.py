"""What the sandbox shows where."""

from pathlib import Path
from typing import Literal

import msgspec


class Mount(msgspec.Struct, frozen=True):
    """What is seen at `target`: `source` read-only or writable, an empty folder, a link to `source`, or nothing readable."""

    kind: Literal["read-only", "writable", "empty", "link", "nothing"]
    target: Path
    source: Path | None = None

    def options(self) -> list[str]:
        match self.kind:
            case "empty":
                return ["--tmpfs", str(self.target)]
            case "link":
                return ["--symlink", str(self.source), str(self.target)]
            case "nothing":
                return ["--ro-bind", "/dev/null", str(self.target)]
            case "read-only":
                return ["--ro-bind", str(self.source or self.target), str(self.target)]
            case "writable":
                return ["--bind", str(self.source or self.target), str(self.target)]
