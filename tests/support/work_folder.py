"""A `.work/` folder made for a test, with blocks as the format asks."""

import json
from pathlib import Path
from typing import Any


def block(id: str, status: str = "proposed", *lines: str, priority: str = "high", title: str = "") -> str:
    head = [
        f"id: {id}",
        f"title: {title or f'About {id}'}",
        "created: 2026-01-05",
        "type: bug",
        f"priority: {priority}",
    ]
    body = ["### Problem", f"{id} is wrong.", "", "### Acceptance Criteria", "- [ ] It is right", ""]
    return "\n".join(["---", *head, f"status: {status}", *lines, "---", "", *body, ""])


class Work:
    """The folder below a root, with its files as text."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.agent = root / ".work" / "agent"
        self.issues = self.agent / "issues"
        self.issues.mkdir(parents=True)
        (root / ".work" / "constitution.md").write_text("# Constitution\n\nBe kind.\n")

    def put(self, file: str, *blocks: str) -> None:
        (self.issues / file).parent.mkdir(exist_ok=True)
        (self.issues / file).write_bytes(f"# {file}\n\n{''.join(blocks)}".encode())

    def text(self, file: str) -> str:
        path = self.issues / file
        return path.read_bytes().decode() if path.exists() else ""

    def state(self, **values: Any) -> None:
        (self.agent / "orchestrator-state.json").write_text(json.dumps(values))

    def state_now(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.agent / "orchestrator-state.json").read_text())
        return read

    def everything(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}
