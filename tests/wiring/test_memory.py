"""The shared memory on a real journal and a real tree."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.memory.folding import learnings_of
from tests.support.builders import Story, short_tdd_run, tdd_task

from flyball.core.model.effects import Recall
from flyball.core.model.events import LearningRecorded
from flyball.core.model.task import EffectId, TaskId
from flyball.wiring.memory import FolderTree, JournalLearnings, RepositoryMemory
from flyball.wiring.site import Site

DECISION = LearningRecorded(1, "decision", "Rows", choice="use the csv module", source="report", files=("rows.py",))


def worked(number: int, fact: LearningRecorded = DECISION) -> Story:
    task = replace(tdd_task(), id=TaskId(f"00{number}-parse-rows"))
    return Story(task).start().iterate(held=True, signal=True).add(fact).leave("GREEN")


@pytest.mark.req("O41")
def test_learnings_are_read_from_the_facts_that_matter_and_only_what_is_new_the_next_time(site: Site, told) -> None:
    first = told(worked(1))
    memory = JournalLearnings(site.journal)
    known = memory.tasks()[first]
    whole = learnings_of(site.journal.read(first))
    assert known == whole
    assert [each.standing for each in known.known.values()] == ["kept"]
    site.journal.append(first, [replace(DECISION, number=2, title="Other")], epoch=0, at=DECISION_AT)
    assert list(memory.tasks()[first].known) == [1, 2]


DECISION_AT = short_tdd_run().at


@pytest.mark.req("O41")
def test_a_recall_looks_into_all_tasks_and_into_the_tree(site: Site, told, repository: Path) -> None:
    told(worked(1))
    own = told(worked(2, replace(DECISION, title="Columns", choice="name them in a header", files=())))
    space = site.workspace(site.state(own).task)
    space.prepare()
    request = Recall(EffectId("recall/1"), words="rows of the csv module", files=("rows.py",), at=DECISION_AT)
    memory = RepositoryMemory(site.journal, space)
    assert [each.id for each in memory.recall(request).learnings] == [f"{own}/1"], "rows.py is not in the tree"
    (space.root / "rows.py").write_text("import csv\n")
    found = memory.recall(request)
    assert [each.id for each in found.learnings] == ["001-parse-rows/1", f"{own}/1"]
    assert found.searched == 2


@pytest.mark.req("O41")
def test_a_tree_is_read_within_its_borders(site: Site, told, repository: Path) -> None:
    space = site.workspace(site.state(told(worked(1))).task)
    space.prepare()
    repository = space.root
    tree = FolderTree(space.root, space.vault)
    (repository / "a.py").write_text("text")
    (repository / "link.py").symlink_to(repository / "a.py")
    (repository / "out").symlink_to(repository.parent)
    (repository.parent / "secret").write_text("secret")
    assert (tree.text("a.py"), tree.text("link.py"), tree.text("out/secret")) == ("text", None, None)
    assert (tree.text("README.md"), tree.text("gone"), tree.text(".")) == ("# rows\n", None, None)
    assert (tree.exists("a.py"), tree.exists("link.py"), tree.exists("gone")) == (True, True, False)
    head = site.repository.require_commit()
    assert tree.text_then(head, "gone") is None
    assert tree.text_then("0" * 40, "README.md") is None
