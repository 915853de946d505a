"""Issues of beads and GitHub as the source of a plan, through their own programs `bd` and `gh`, in the user's name."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from flyball import process
from flyball.core.model.outcomes import Stale
from flyball.core.model.task import Source
from flyball.core.text.scrubbing import decode, scrub
from flyball.core.workflows.plan.effects import EntriesMarked, MarkEntries, PlanRead, ReadPlan
from flyball.core.workflows.plan.sources.marking import MarkChange
from flyball.core.workflows.plan.sources.trackers import BEADS_DONE, GITHUB_DONE, read_beads, read_github
from flyball.core.workflows.plan.sources.values import ImportedPlan, PlanUnreadable
from flyball.documents.errors import DocumentError
from flyball.documents.plan_marks import (
    PlanFiles,
)
from flyball.documents.plan_source import notes_on, refuse_defects
from flyball.documents.source import SourceDocument

PATIENCE_S = 120.0
TRACKERS = ("beads", "github")
"""What may be typed in the place of a path: `--from beads`, `--from github`, `--from github:LABEL`."""
_FIELDS = "number,title,body,labels,state,stateReason,milestone,url,updatedAt"
_NEWER_FIELDS = "blockedBy,parent"
_NOT_LOGGED_IN = 4
_REASON = "Done by flyball: reviewed and measured"


class PlanSources(msgspec.Struct, frozen=True):
    """Performs the effects on the source of a plan, wherever that is kept."""

    root: Path
    environment: Mapping[str, str]

    def read(self, request: ReadPlan) -> PlanRead:
        if request.source.format not in TRACKERS:
            return PlanFiles(self.root).read(request)
        plan, digest = Trackers(self.root, self.environment).read(request.source)
        return PlanRead(digest, None if digest == request.seen else plan)

    def mark(self, request: MarkEntries) -> EntriesMarked | Stale:
        is_tracked = request.source.format in TRACKERS
        return (Trackers(self.root, self.environment) if is_tracked else PlanFiles(self.root)).mark(request)


def tracker_source(typed: str) -> Source | None:
    name, _, selector = typed.partition(":")
    return Source(typed, "", name, selector) if name in TRACKERS else None


def read_tracker(source: Source, root: Path, environment: Mapping[str, str]) -> SourceDocument:
    plan, digest = Trackers(root, environment).read(source)
    refuse_defects(plan, Path(source.path))
    title = f"Work through the issues of {source.path}"
    found = Source(source.path, digest, source.format, source.selector)
    return SourceDocument(found, "", title, title, plan.items, living=True, notes=notes_on(plan))


class Trackers(msgspec.Struct, frozen=True):
    """The issues of a repository, as `bd` or `gh` tells them; nothing they do not confirm is said to be done."""

    root: Path
    environment: Mapping[str, str]

    def read(self, source: Source) -> tuple[ImportedPlan, str]:
        """All open issues that can be worked, and a hash that tells this answer from another."""
        raw = self._beads() if source.format == "beads" else self._github(source.selector)
        try:
            plan = read_beads(raw) if source.format == "beads" else read_github(raw)
        except PlanUnreadable as error:
            raise DocumentError(f"{error}.") from error
        return plan, hashlib.sha256(raw).hexdigest()

    def mark(self, request: MarkEntries) -> EntriesMarked | Stale:
        """Close issues, or open them again; one that stands so already is left alone."""
        change_one = self._mark_bead if request.source.format == "beads" else self._mark_github
        if not all(change_one(change) for change in request.changes):
            return Stale("")
        return EntriesMarked(self.read(request.source)[1])

    def _beads(self) -> bytes:
        said = scrub(decode(self._run("bd", "version").stdout)).strip()
        if not re.search(r"\bbd version \d|\bbeads\b", said):
            first = said.splitlines()[0][:80] if said else "nothing"
            raise DocumentError(f"The program bd is not beads: `bd version` says {first!r}. Put beads first in PATH.")
        return self._answer("bd", "ready", "--json", "--limit", "0")

    def _mark_bead(self, change: MarkChange) -> bool:
        now = self._status("bd", "show", change.key.id, "--json", field="status")
        if now not in {change.before, change.after}:
            return False
        if now != change.after:
            closing = ("close", change.key.id, "--reason", _REASON, "--json")
            opening = ("update", change.key.id, "--status", change.after, "--json")
            self._answer("bd", *(closing if change.after == BEADS_DONE else opening))
        return True

    def _github(self, label: str) -> bytes:
        wanted = ("--label", label) if label else ()
        words = ("issue", "list", "--state", "open", "--limit", "1000", *wanted, "--json")
        newest = self._run("gh", *words, f"{_FIELDS},{_NEWER_FIELDS}")
        return newest.stdout if newest.code == 0 else self._answer("gh", *words, _FIELDS)

    def _mark_github(self, change: MarkChange) -> bool:
        number = change.key.id.removeprefix("#")
        now = self._status("gh", "issue", "view", number, "--json", "state", field="state")
        if now not in {change.before, change.after}:
            return False
        if now != change.after:
            closing = ("close", number, "--comment", _REASON)
            self._answer("gh", "issue", *(closing if change.after == GITHUB_DONE else ("reopen", number)))
        return True

    def _status(self, *words: str, field: str) -> str:
        """The status of one issue, printed alone, in a list, or in an envelope."""
        try:
            value: Any = json.loads(self._answer(*words))
        except ValueError as error:
            raise DocumentError(f"`{' '.join(words)}` printed no JSON.") from error
        value = value.get("data", value) if isinstance(value, dict) else value
        value = value[0] if isinstance(value, list) and value else value
        return str(value.get(field, "")) if isinstance(value, dict) else ""

    def _answer(self, *words: str) -> bytes:
        done = self._run(*words)
        if done.code == 0:
            return done.stdout
        lines = scrub(decode(done.stderr or done.stdout)).strip().splitlines()
        why = lines[-1] if lines else "it said nothing"
        login = ". Log in with: gh auth login" if words[0] == "gh" and done.code == _NOT_LOGGED_IN else ""
        raise DocumentError(f"`{' '.join(words[:3])}` ended with code {done.code}: {why}{login}")

    def _run(self, name: str, *words: str) -> process.Captured:
        environment = {**self.environment, "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1"}
        program = shutil.which(name, path=environment.get("PATH", ""))
        if program is None:
            raise DocumentError(f"The program {name} is not installed; expected it in PATH.")
        try:
            return process.capture([program, *words], cwd=self.root, env=environment, timeout=PATIENCE_S)
        except process.CommandTimedOut as error:
            raise DocumentError(f"`{name} {words[0]}` did not end within {PATIENCE_S:.0f} s.") from error
        except process.ProgramMissing as error:
            raise DocumentError(str(error)) from error
