"""SIGKILL while the documents of a track are written: each process dies in the middle of an edit, and no edit is lost or made twice."""

import json
import re
from pathlib import Path

import pytest
from tests.faults.world import PROGRAMS, World, check_journal

from flyball.core.fold.evolve import fold
from flyball.core.model.events import Event
from flyball.core.model.task import TaskId
from flyball.core.workflows.track.facts import TrackEvaluated
from flyball.journal.sqlite import SqliteJournal

pytestmark = [pytest.mark.slow, pytest.mark.req("C61", "D31", "D40")]
TASK = TaskId("001-work-track-parts")
FOLDER = "conductor/tracks/parts_20260105"
FILES = {
    "conductor/product.md": "# Parts\n\n## Rules\n\n- BR-1: a part has at most 9 sides\n",
    "conductor/tracks.md": "## Active\n\n| Track ID | Name |\n|---|---|\n| parts_20260105 | Parts |\n\n"
    "## Completed\n\n| Track ID | Name | Completed | Summary |\n|---|---|---|---|\n",
    f"{FOLDER}/spec.md": "# Parts\n\nTwo parts, by BR-1, with a price.\n",
    f"{FOLDER}/metadata.json": '{\n   "name": "Parts", "own": [1,2],\n   "evaluators": ["business-logic"]\n}\n',
    f"{FOLDER}/plan.md": "".join(
        f"- [ ] Task 1.{n}: add part {n} <!-- deps: {deps} -->\n  - Acceptance: it is there\n  - Files: `part_1_{n}.py`, `tests/`\n"
        for n, deps in ((1, "none"), (2, "1.1"))
    )
    + "\nPrices: **Business Doc Sync Required**: Yes\n**Affected Docs**: product.md\n",
}
KILLS = ("work.write.inside:1", *("work.write.after:1",) * 9, "work.write.inside:1", "journal.append.before:9")


class TrackWorld(World):
    """A repository with a track of two tasks, one after the other."""

    def make(self) -> "TrackWorld":
        super().make()
        self.agent = f"sh {PROGRAMS / 'tiny_track_agent.sh'}"
        for name, text in FILES.items():
            self.write(name, text)
        self.git("add", "conductor")
        self.git("commit", "-q", "-m", "Track", "conductor")
        return self

    def events(self) -> list[Event]:
        journals = list(self.home.glob("repos/*/journal.sqlite"))
        if not journals:
            return []
        with SqliteJournal.open(journals[0]) as journal:
            return list(journal.read(TASK))


def test_a_kill_in_the_middle_of_each_edit_of_a_track_changes_nothing_of_the_result(tmp_path: Path) -> None:
    world = TrackWorld(tmp_path / "world").make()
    flags = ["--unattended", "--sandbox", "none", "--agent-command", world.agent, "--gate", f"test={world.gate}"]
    came = []
    for kill in (*KILLS, ""):
        words = ["resume"] if world.events() else ["run", "--from", FOLDER, *flags]
        code, said = world.flyball(*words, kill=kill)
        assert code in (-9, 0), said
        came += [kill] if code == -9 else []
        if code == 0:
            break
    assert len(came) > len(KILLS) - 3, came
    check_whole(world)


def check_whole(world: TrackWorld) -> None:
    """Each box, phase, count and row is there once, and nothing else is left in the user's folders."""
    events = world.events()
    check_journal(events)
    state = fold(events)
    assert state is not None
    assert state.decision == "DONE", state.stopped
    track = world.repository / FOLDER
    plan = (track / "plan.md").read_text()
    done = re.findall(
        r"^- \[x\] Task (\S+): .* <!-- [0-9a-f]{12} -->\n(?:  - (?:Acc|Files).*\n)*  - did (\S+)\n", plan, re.MULTILINE
    )
    assert [id_ for id_, _ in done] == ["1.1", "1.2", "F1.1"] + [id_ for id_, _ in done[3:]], plan
    assert plan.count("  - did ") == len(done) == plan.count("Task ")
    assert plan.count("## Fix Phase") == 1
    metadata = json.loads((track / "metadata.json").read_text())
    assert (metadata["own"], metadata["status"], metadata["loop_state"]["fix_cycle_count"]) == ([1, 2], "complete", 1)
    assert '{\n   "name": "Parts", "own": [1,2],\n' in (track / "metadata.json").read_text()
    assert [e.fact.evaluation.verdict for e in events if isinstance(e.fact, TrackEvaluated)] == ["FAIL", "PASS"]
    tracks = (world.repository / "conductor/tracks.md").read_text()
    assert tracks.count("| parts_20260105 | Parts |") == 1
    log = (world.repository / "conductor/decision-log.md").read_text()
    assert log.count("did business-writer") == 1
    left = sorted(path.name for path in track.iterdir())
    assert left == ["evaluation-report.md", "metadata.json", "plan.md", "spec.md"]
    assert world.orphans() == []
