"""The command that builds a project, from the files that lie in it; it runs nothing."""

import re
from collections.abc import Collection

from flyball.config.finding import Reader, json_table, sub

_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"))
_BY_FILE = (
    ("Cargo.toml", "cargo build"),
    ("go.mod", "go build ./..."),
    ("pom.xml", "mvn -q -DskipTests package"),
    ("build.gradle", "gradle assemble"),
    ("build.gradle.kts", "gradle assemble"),
)


def build_command(files: Collection[str], read: Reader) -> str:
    """The build command; empty for a project that is not built."""
    if "package.json" in files and "build" in sub(json_table(read("package.json")), "scripts"):
        manager = next((name for lock, name in _MANAGERS if lock in files), "npm")
        return f"{manager} run build"
    if "Makefile" in files and re.search(r"^build\s*:", read("Makefile") or "", re.MULTILINE):
        return "make build"
    return next((command for name, command in _BY_FILE if name in files), "")
