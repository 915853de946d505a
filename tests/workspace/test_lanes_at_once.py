"""Several lanes at work at the same time: no accepted line is lost, every rejected one is in a checkpoint, the user's files stay."""

import random
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.workspace.conftest import AT, User

from flyball.core.model.outcomes import Conflicted, Integrated, NothingToIntegrate
from flyball.core.model.task import Commit
from flyball.workspace.workspace import GitWorkspace

FILES = ("src/a.py", "b.txt", "docs/c.md")
LINES = 14
LANES = 4

pytestmark = pytest.mark.slow


def agent(tree: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=tree, capture_output=True, text=True, check=True)
    return done.stdout


def files_of(user: User) -> dict[str, bytes]:
    """All that lies in the user's repository and its .git."""
    return {str(path): path.read_bytes() for path in user.root.rglob("*") if path.is_file()}


class Editor:
    """An agent that makes random edits with lines nobody else writes, and uses git as agents do."""

    def __init__(self, name: str, seed: str) -> None:
        self.name = name
        self.random = random.Random(seed)
        self.written: list[str] = []

    def __call__(self, tree: Path) -> None:
        for _ in range(self.random.randint(1, 4)):
            path = tree / self.random.choice(FILES)
            lines = path.read_text().splitlines()
            first = self.random.randrange(len(lines))
            last = first + self.random.choice((0, 0, 1, 3))
            kept = [line for line in lines[first:last] if line in self.written]
            lines[first:last] = [*kept, *(self._line() for _ in range(self.random.randint(1, 2)))]
            path.write_text("\n".join(lines) + "\n")
            self._use_git(tree)
        if self.random.random() < 0.3:
            (tree / f"new-{self.name}.txt").write_text(self._line() + "\n")
        if self.random.random() < 0.3:
            agent(tree, "add", "-A")
            agent(tree, "mv", "docs/c.md", f"docs/{self.name}.md")

    def _line(self) -> str:
        self.written.append(f"line {len(self.written)} of {self.name}")
        return self.written[-1]

    def _use_git(self, tree: Path) -> None:
        match self.random.choice(("nothing", "commit", "stash", "add")):
            case "commit":
                agent(tree, "commit", "-qam", f"by {self.name}")
            case "stash":
                agent(tree, "stash")
                agent(tree, "stash", "pop")
            case "add":
                agent(tree, "add", "-A")


def lines_in(workspace: GitWorkspace, commit: Commit) -> list[str]:
    texts = [workspace.read_file(commit, path) or b"" for path in workspace.list_files(commit)]
    return [line for text in texts for line in text.decode().splitlines()]


@pytest.mark.req("O30")
@pytest.mark.parametrize("seed", range(6))
def test_every_accepted_line_is_in_the_result_and_every_rejected_one_in_a_checkpoint(
    workspace: GitWorkspace, user: User, seed: int
) -> None:
    text = "".join(f"line {n}\n" for n in range(LINES)).encode()
    tree = workspace.overlay(workspace.base, {}, dict.fromkeys(FILES, text))
    base = Commit(workspace.accept("scaffold", "scaffold", AT, tree=tree, parent=workspace.base).commit)
    before = files_of(user)
    names = [f"1.{n}" for n in range(LANES)]
    editors = {name: Editor(name, f"{seed} {name}") for name in names}

    def work(name: str) -> Commit:
        lane = workspace.open_lane(name, base)
        editors[name](lane.root)
        return Commit(lane.snapshot("turn-1", name, AT).commit)

    with ThreadPoolExecutor(LANES) as threads:
        saved = dict(zip(names, threads.map(work, names), strict=True))
    tip, accepted, rejected = base, [], []
    for name in names:
        met = workspace.integrate(saved[name], base=base, onto=tip, message=name, at=AT)
        assert not isinstance(met, NothingToIntegrate)
        if isinstance(met, Integrated):
            tip = met.commit
            accepted.append(name)
        else:
            assert isinstance(met, Conflicted)
            assert met.paths
            rejected.append(name)
        workspace.close_lane(name)
    result = lines_in(workspace, tip)
    for name in accepted:
        still = [line for line in editors[name].written if line in lines_in(workspace, saved[name])]
        assert [line for line in still if result.count(line) != 1] == [], f"{name}, seed {seed}"
    for name in rejected:
        kept = lines_in(workspace, workspace.lane(name).checkpoints["turn-1"])
        assert set(editors[name].written) <= set(kept), f"{name}, seed {seed}"
        assert not set(editors[name].written) & set(result), "nothing of it came along by halves"
    assert not [line for line in result if line.startswith(("<<<<<<<", "|||||||", ">>>>>>>"))]
    assert files_of(user) == before


def test_lanes_that_stash_commit_check_out_and_rename_at_once_know_nothing_of_each_other(
    workspace: GitWorkspace, user: User
) -> None:
    before = files_of(user)
    lanes = {name: workspace.open_lane(name, workspace.base) for name in ("1.1", "1.2", "1.3")}
    step = threading.Barrier(len(lanes))

    def work(name: str) -> tuple[str, str]:
        tree = lanes[name].root
        (tree / "b.txt").write_text(f"stashed by {name}\n")
        step.wait(60)
        agent(tree, "stash")
        step.wait(60)
        (tree / "src" / "a.py").write_text(f"# {name}\n")
        agent(tree, "commit", "-qam", f"by {name}")
        step.wait(60)
        agent(tree, "checkout", "-q", ".")
        agent(tree, "mv", "src/a.py", f"src/{name}.py")
        agent(tree, "config", "user.name", name)
        agent(tree, "tag", f"t{name}")
        step.wait(60)
        agent(tree, "stash", "pop")
        return agent(tree, "log", "--all", "--format=%s"), agent(tree, "tag")

    with ThreadPoolExecutor(len(lanes)) as threads:
        seen = dict(zip(lanes, threads.map(work, lanes), strict=True))
    for name, lane in lanes.items():
        others = [other for other in lanes if other != name]
        assert (lane.root / "b.txt").read_text() == f"stashed by {name}\n"
        assert (lane.root / "src" / f"{name}.py").read_text() == f"# {name}\n"
        assert not [other for other in others if f"by {other}" in seen[name][0] or f"t{other}" in seen[name][1]]
        changed = lane.changed_files(lane.base, Commit(lane.snapshot("turn-1", name, AT).commit))
        assert set(changed) == {("M", "b.txt"), ("D", "src/a.py"), ("A", f"src/{name}.py")}
    assert files_of(user) == before
