"""The user's `.work/` folder: its issue files, state and focus, read as one, and the little that flyball writes there."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec

from flyball.core.workflows.backlog.focus import focused_issue, with_decision
from flyball.core.workflows.backlog.issues.reading import read_backlog
from flyball.core.workflows.backlog.issues.words import is_history, place_of
from flyball.core.workflows.backlog.session_state import StateRead, read_state, with_evaluation
from flyball.core.workflows.backlog.values import HISTORY, ISSUE_FILES, Backlog, Deviation, Evaluation, Session
from flyball.documents.errors import WorkFolderUnusable
from flyball.documents.kept_files import KeptFolder
from flyball.documents.own_files import key_of

if TYPE_CHECKING:
    import os
    from pathlib import Path

WORK, AGENT, ISSUES = ".work", "agent", "issues"
STATE, FOCUS, CONSTITUTION, MEMORY = "orchestrator-state.json", "focus.md", "constitution.md", "memory.md"
SYSTEM = {"darwin": "macos", "win32": "windows", "cygwin": "windows"}.get(sys.platform, sys.platform)
_ROLLED = r"history-(0|[1-9][0-9]{0,8})\.md"


class WorkRead(msgspec.Struct, frozen=True):
    """What `.work/` holds: the backlog, the session so far, and what a reader should be warned of."""

    backlog: Backlog
    state: StateRead
    warnings: tuple[str, ...]


def text_of(raw: bytes) -> str:
    """A file as text; bytes that are not UTF-8 survive the way back."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def find_root(start: Path) -> Path:
    """The nearest folder from `start` upwards that has a `.work`; `start` itself where none has."""
    return next((folder for folder in (start, *start.parents) if (folder / WORK).is_dir()), start)


class WorkFolder(msgspec.Struct, frozen=True):
    """The `.work/` folder below `root`; of the files the format does not name, those that match `ignore` are left out."""

    root: str | os.PathLike[str]
    ignore: tuple[str, ...] = ()

    def read(self) -> WorkRead:
        """Everything an evaluation needs; nothing is written."""
        backlog = self.backlog()
        with KeptFolder.below(self.root, WORK) as work:
            constitution = work.read(CONSTITUTION)
        warnings: list[str] = []
        if constitution is None:
            warnings.append("there is no .work/constitution.md; write one with: flyball init --constitution")
        with KeptFolder.below(self.root, WORK, AGENT) as agent:
            raw, problem = _parse_state(agent.read(STATE))
            focus = agent.read(FOCUS)
        state = read_state(raw)
        if problem:
            warnings.append(f"{STATE} cannot be read ({problem}); it is kept as {STATE}.bak and a new one begun")
        if not state.session.focus and focus:
            focused = msgspec.structs.replace(state.session, focus=focused_issue(text_of(focus)))
            state = msgspec.structs.replace(state, session=focused)
        if self.ignore:
            with KeptFolder.below(self.root, WORK, AGENT, ISSUES) as issues:
                left_out = sorted({*issue_files(issues)} - {*issue_files(issues, self.ignore)})
            warnings += [f"evaluate.ignore leaves out: {', '.join(left_out)}"] if left_out else []
        return WorkRead(backlog, state, (*warnings, *state.problems))

    def backlog(self) -> Backlog:
        """The issue files and what history says is finished; a file that cannot be read is told among what is unread."""
        lost: list[Deviation] = []
        texts: dict[str, str] = {}
        with KeptFolder.below(self.root, WORK, AGENT, ISSUES) as issues:
            for name in (*_past(issues), *issue_files(issues, self.ignore)):
                try:
                    raw = issues.read(name) or b""
                    problem = _no_text(raw)
                except WorkFolderUnusable as error:
                    raw, problem = b"", str(error)
                if problem:
                    lost.append(Deviation(name, 0, problem))
                elif raw:
                    texts[name] = text_of(raw)
        return read_backlog(texts, lost)

    def excerpts(self, limit: int = 8000) -> dict[str, str]:
        found: dict[str, str] = {}
        for names, name in (((WORK,), CONSTITUTION), ((WORK,), MEMORY), ((WORK, AGENT), MEMORY)):
            with KeptFolder.below(self.root, *names) as folder:
                raw = folder.read(name)
            if raw and name not in found:
                found[name] = raw.decode("utf-8", "replace").strip()[:limit]
        return found

    def is_done_still(self) -> bool:
        """Whether the last decision was DONE, and the issue files still are what they were then."""
        with KeptFolder.below(self.root, WORK, AGENT) as agent:
            seen = read_state(_parse_state(agent.read(STATE))[0]).seen
        return seen is not None and bool(seen.done) and seen.done == self._digest()

    def _digest(self) -> str:
        found: list[str | bytes] = []
        with KeptFolder.below(self.root, WORK, AGENT, ISSUES) as issues:
            for name in (*_past(issues), *issue_files(issues, self.ignore)):
                found += (name, issues.read(name) or b"")
        return key_of(*found)

    def record(self, session: Session, evaluation: Evaluation, *, at: str) -> None:
        """Write the decision into the state and the focus, durably and by the smallest change."""
        with KeptFolder.below(self.root, WORK, AGENT) as agent:
            if _parse_state(agent.read(STATE))[1]:
                agent.move(STATE, agent.free_name(f"{STATE}.bak"))
            digest = self._digest() if evaluation.decision == "DONE" else ""

            def with_session(raw: bytes | None) -> bytes:
                values, _ = _parse_state(raw)
                return state_bytes(
                    with_evaluation(values, read_state(values), session, evaluation, at=at, digest=digest)
                )

            agent.edit(STATE, with_session)
            agent.edit(FOCUS, lambda raw: bytes_of(with_decision(text_of(raw or b""), evaluation, at)))


def histories(issues: KeptFolder) -> list[str]:
    return [*(f"history-{number}.md" for number in history_numbers(issues)), HISTORY]


def _past(issues: KeptFolder) -> list[str]:
    own = histories(issues)
    return [*(name for name in issues.names() if is_history(name) and name not in own), *own]


def issue_files(issues: KeptFolder, ignore: Iterable[str] = ()) -> list[str]:
    """The files that hold issues, in order: those of the format, there or not, and every other `*.md` that is not ignored."""
    globs = [glob.casefold() for glob in ignore]

    def counts(path: str) -> bool:
        folded = path.casefold()
        if not folded.endswith((".md", "/")) or is_history(path):
            return False
        return not any(fnmatchcase(name, glob) for glob in globs for name in (folded, folded.rpartition("/")[2]))

    return sorted({*ISSUE_FILES, *(path for path in issues.paths() if counts(path))}, key=place_of)


def history_numbers(issues: KeptFolder) -> list[int]:
    names = (name for name in issues.names() if name.startswith("history-"))
    return sorted(int(found[1]) for name in names if (found := re.fullmatch(_ROLLED, name)))


def _no_text(raw: bytes) -> str:
    """Why a file is no text; empty where it is."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "the file is UTF-16; save it as UTF-8"
    return "the file is binary; expected text in UTF-8" if b"\0" in raw else ""


def _parse_state(raw: bytes | None) -> tuple[dict[str, Any], str]:
    """A state file as an object, and why it is none."""
    if raw is None or not raw.strip():
        return {}, ""
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except RecursionError:
        return {}, "it is nested too deeply"
    except ValueError as error:
        return {}, f"it is not valid JSON: {error}"
    if not isinstance(value, dict):
        return {}, "it holds no object"
    return value, ""


def state_bytes(values: Mapping[str, Any]) -> bytes:
    """A state file as it is written; half characters, which no file can hold, are escaped."""
    try:
        return f"{json.dumps(values, indent=2, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(values, indent=2)}\n".encode()
