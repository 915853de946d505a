"""A plan of another tool worked by real processes: marked in the user's tree, killed on the way, rolled back, and against agents that tick it."""

import json
from pathlib import Path

import pytest
from tests.faults.world import PROGRAMS, World

pytestmark = pytest.mark.req("O23")

TASKS = "# Tasks: Greet\r\n\r\n## Phase 1: Setup\r\n- [ ] T001 Lay out T001.txt tests/T001.t\r\n## Phase 2: Work\r\n\t* [ ] **T002** Say T002.txt tests/T002.t"
PLACE = "specs/001-greet/tasks.md"
MASTER = {
    "other": {"tasks": [{"id": 9, "title": "theirs", "status": "pending"}]},
    "master": {
        "tasks": [
            {"id": 1, "title": "lay out", "status": "pending", "dependencies": []},
            {
                "id": "2",
                "title": "say",
                "status": "pending",
                "dependencies": [1],
                "subtasks": [{"id": 1, "title": "hello", "status": "pending"}],
            },
        ]
    },
}
KILLS = (
    "work.write.before:1",
    "work.write.inside:1",
    "work.write.after:1",
    "engine.outcome.known:3",
    "journal.append.after:12",
)
"""While the plan is read, and before, while and after it is marked but before that is in the journal."""


class Plan:
    """A world whose repository has a plan, tracked as the rest of it."""

    def __init__(self, world: World, place: str, content: str) -> None:
        self.world, self.place, self.content = world, place, content.encode()
        world.agent = f"sh {PROGRAMS / 'tiny_plan_agent.sh'}"
        self.path = world.repository / place
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(self.content)
        world.git("add", place)
        world.git("commit", "-q", "-m", "A plan", place)

    def run(self, *more: str, kill: str = "") -> tuple[int, str]:
        world = self.world
        flags = ["--unattended", "--sandbox", "none", "--agent-command", world.agent, "--gate", f"test={world.gate}"]
        return world.flyball("run", "--from", self.place, *flags, *more, kill=kill)

    def branch(self) -> str:
        return self.world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/flyball/")

    def changed(self) -> list[str]:
        return self.world.git("diff", "--name-only", f"main...{self.branch()}").splitlines()


@pytest.fixture
def plan(world: World) -> Plan:
    return Plan(world, PLACE, TASKS)


@pytest.mark.req("O31")
@pytest.mark.e2e
def test_a_spec_kit_file_needs_no_further_flag_and_only_its_ticks_move(plan: Plan) -> None:
    code, said = plan.run()
    assert code == 0, said
    assert plan.path.read_bytes() == plan.content.replace(b"[ ]", b"[X]")
    assert plan.place not in plan.changed(), "the branch does not touch the plan, whatever the agent did to it"
    assert {"T001.txt", "T002.txt"} <= set(plan.changed())
    report = next(Path(plan.world.repository).glob(".loop/*/report.md")).read_text()
    assert (
        f"{plan.place} stays as it was: the agent's change of it was discarded, since flyball keeps that file" in report
    )
    plan.world.git("checkout", "-q", plan.place)
    plan.world.git("stash", "-q")
    plan.world.git("merge", "-q", plan.branch())


@pytest.mark.e2e
@pytest.mark.slow
def test_a_task_master_file_is_marked_with_its_parents_and_no_other_tag_moves(world: World) -> None:
    plan = Plan(world, ".taskmaster/tasks/tasks.json", json.dumps(MASTER, indent=4))
    code, said = plan.run()
    assert code == 0, said
    before, _, own = plan.content.partition(b'"master"')
    assert plan.path.read_bytes() == before + b'"master"' + own.replace(b'"pending"', b'"done"')
    assert {"1.txt", "2_1.txt"} <= set(plan.changed())
    assert plan.place not in plan.changed()


@pytest.mark.slow
@pytest.mark.parametrize("kill", KILLS)
def test_a_plan_is_marked_once_though_flyball_is_killed_on_the_way(plan: Plan, kill: str) -> None:
    code, said = plan.run(kill=kill)
    assert code == -9, said
    code, said = plan.world.flyball("resume")
    assert code == 0, said
    assert plan.path.read_bytes() == plan.content.replace(b"[ ]", b"[X]")
    assert [path.name for path in plan.path.parent.iterdir()] == ["tasks.md"]


@pytest.mark.slow
@pytest.mark.req("O45")
def test_what_a_rollback_undoes_is_unticked(plan: Plan) -> None:
    code, said = plan.run()
    assert code == 0, said
    code, said = plan.world.flyball("rollback", "001", "--to", "batch-1")
    assert code == 0, said
    assert plan.path.read_bytes() == plan.content.replace(b"[ ] T001", b"[X] T001")
    code, said = plan.world.flyball("resume", "001")
    assert code == 0, said
    assert plan.path.read_bytes() == plan.content.replace(b"[ ]", b"[X]")
    edited = plan.content + b"\r\n\r\nA remark.\r\n"
    plan.path.write_bytes(edited.replace(b"[ ]", b"[X]"))
    code, said = plan.world.flyball("rollback", "001", "--to", "start")
    assert code == 0, said
    assert plan.path.read_bytes() == edited, "what a person wrote beside the marks does not keep ours in the file"
    code, said = plan.world.flyball("resume", "001")
    assert code == 0, said
    assert "by a person" not in said
    assert {"T001.txt", "T002.txt"} <= set(plan.changed())
    assert plan.path.read_bytes() == edited.replace(b"[ ]", b"[X]")


@pytest.mark.slow
def test_a_rollback_says_that_it_could_not_unmark_a_plan_and_goes_back_all_the_same(plan: Plan) -> None:
    code, said = plan.run()
    assert code == 0, said
    plan.path.unlink()
    code, said = plan.world.flyball("rollback", "001", "--to", "start")
    assert code == 0, said
    assert f"{plan.place} still marks reopened entries as done; flyball could not change the marks" in said
    plan.path.write_bytes(plan.content.replace(b"[ ]", b"[X]"))
    code, said = plan.world.flyball("resume", "001")
    assert code == 0, said
    assert {"T001.txt", "T002.txt"} <= set(plan.changed())


GH = """#!/bin/sh
echo "$@" >>"$0.calls"
case "$1 $2" in
"issue list") grep -qx CLOSED "$0.7" 2>/dev/null && echo '[]' ||
	echo '[{"number": 7, "title": "Say hello in hello.txt", "body": "", "state": "OPEN"}]' ;;
"issue view") printf '{"state": "%s"}' "$(cat "$0.$3" 2>/dev/null || echo OPEN)" ;;
"issue close") echo CLOSED >"$0.$3" ;;
"issue reopen") echo OPEN >"$0.$3" ;;
esac
"""


@pytest.mark.slow
@pytest.mark.parametrize("close", [False, True])
def test_issues_of_a_tracker_are_a_plan_and_closed_only_where_that_is_switched_on(world: World, close: bool) -> None:
    world.agent = f"sh {PROGRAMS / 'tiny_plan_agent.sh'}"
    program = world.outside / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(GH)
    program.chmod(0o755)
    world.variables["PATH"] = f"{program.parent}:{world.environment()['PATH']}"
    if close:
        world.write("flyball.toml", "[import]\nclose_issues = true\n")
        assert world.flyball("trust", "--yes")[0] == 0
    flags = ["--unattended", "--sandbox", "none", "--agent-command", world.agent, "--gate", f"test={world.gate}"]
    code, said = world.flyball("run", "--from", "github:bug", *flags)
    assert code == 0, said
    calls = Path(f"{program}.calls").read_text()
    assert "--label bug" in calls
    assert ("issue close 7" in calls) is close
    code, said = world.flyball("rollback", "1", "--to", "start")
    assert code == 0, said
    calls = Path(f"{program}.calls").read_text()
    assert ("issue reopen 7" in calls) is close, said


def test_a_plan_that_cannot_be_worked_is_refused_with_its_line_and_nothing_is_written(plan: Plan) -> None:
    plan.path.write_bytes(plan.content + b" (depends on T009)")
    code, said = plan.run()
    assert code == 2
    assert f"{PLACE}, line 6: T002 depends on T009, which no entry of the file has" in said
    assert not (plan.world.repository / ".loop").exists()


@pytest.mark.parametrize(("mark", "told"), [("[x] ", "every entry is marked as done"), ("[ ]*", "add: --optional")])
def test_a_plan_in_which_nothing_is_left_to_do_is_refused(plan: Plan, mark: str, told: str) -> None:
    plan.path.write_bytes(plan.content.replace(b"[ ] ", mark.encode()))
    code, said = plan.run()
    assert code == 2
    assert told in said


MIXED = """# Greet

Some words on why this is wanted,
and some more on how it came to be.

| part | file |
|---|---|
| one | 1.txt |

- [ ] **1** Lay out 1.txt tests/1.t
- [ ] **2** Say 2.txt tests/2.t
"""


@pytest.mark.slow
def test_a_document_with_boxes_is_the_plan_where_the_workflow_says_so(world: World) -> None:
    plan = Plan(world, "docs/notes.md", MIXED)
    plan.path.write_text(MIXED.replace("- [ ] **2**", "- [ x] **2**"))
    code, said = plan.run("--workflow", "plan")
    assert code == 2
    assert "line 11: [ x] is not read as a box" in said
    plan.path.write_text(MIXED)
    code, said = plan.run("--workflow", "plan")
    assert code == 0, said
    assert plan.path.read_text().replace("[x]", "[ ]").replace("[X]", "[ ]") == MIXED
    assert "[ ]" not in plan.path.read_text()
    assert {"1.txt", "2.txt"} <= set(plan.changed())
    assert "plan taken from the file" in said


@pytest.mark.slow
def test_a_document_with_boxes_that_is_no_plan_says_how_to_have_it_worked_as_one(world: World) -> None:
    plan = Plan(world, "docs/notes.md", MIXED)
    code, said = plan.run("--max-iterations", "1")
    assert code == 4, said
    told = "docs/notes.md is taken as a document for quick: its boxes are neither worked one by one nor ticked. "
    assert f"{told}To work it as a plan: flyball run --workflow plan --from docs/notes.md --new" in said
