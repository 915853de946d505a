"""A project that needs no set-up."""

from pathlib import Path

from flyball.ports import Stop


class NoSetup:
    def __call__(self, tree: Path, folder: Path, stop: Stop) -> tuple[str, str]:
        return "", ""

    def for_lane(self, tree: Path, folder: Path, stop: Stop, *, shares: bool) -> str:
        return ""
