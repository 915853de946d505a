"""Changes that work where they are measured and nowhere else: links out of the tree, attributes git cannot check out by."""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from flyball.core.model.measurement import Trick
from flyball.core.model.task import Commit
from flyball.ports import Trees

_NAMELESS = re.compile(rb"^[^#\n]*\sworking-tree-encoding(\s|$)", re.MULTILINE)
_MOST_LINKS = 40


def lost_in_a_clone(path: str, candidate: Commit, workspace: Trees) -> Trick | None:
    """What of a changed path would be missing from a clone, if anything."""
    links = workspace.links(candidate)
    if path in links and leads_out(path, lambda at: _target(at, candidate, workspace) if at in links else None):
        target = _target(path, candidate, workspace)
        return Trick("wrong-tree", path, f"a symbolic link to {target} leads out of the tree: in a clone it is broken")
    if PurePosixPath(path).name == ".gitattributes":
        content = workspace.read_file(candidate, path) or b""
        detail = "working-tree-encoding names no encoding: git cannot check such a tree out"
        return Trick("wrong-tree", path, detail) if _NAMELESS.search(content) else None
    return None


def leads_out(path: str, target_of: Callable[[str], str | None]) -> bool:
    """Whether following a path, and every link on it, comes to a place outside the tree."""
    ahead, at, followed = path.split("/")[::-1], list[str](), 0
    while ahead:
        step = ahead.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            if not at:
                return True
            at.pop()
            continue
        target = target_of("/".join((*at, step)))
        if target is None:
            at.append(step)
            continue
        followed += 1
        if target.startswith("/"):
            return True
        if followed > _MOST_LINKS:
            return False
        ahead += target.split("/")[::-1]
    return False


def _target(path: str, candidate: Commit, workspace: Trees) -> str:
    return (workspace.read_file(candidate, path) or b"").decode("utf-8", "surrogateescape")
