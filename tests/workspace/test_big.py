import os
import subprocess

import pytest

from flyball.workspace.checkout import create
from flyball.workspace.files import remove

pytestmark = pytest.mark.slow


def worked(call, *args, **options):
    """The processor time of a call and of the programs it started, which other programs do not lengthen."""
    begun = used()
    call(*args, **options)
    return used() - begun


def used():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.fixture(autouse=True)
def _tidy(tmp_path):
    """Some hundred thousand files need not outlive the test."""
    yield
    remove(tmp_path)


def test_fifty_thousand_files_are_worked_near_the_speed_of_git(new_user, open_workspace, tmp_path, at):
    user = new_user()
    for number in range(500):
        folder = user.root / f"d{number % 50}" / f"e{number}"
        folder.mkdir(parents=True)
        for file in range(100):
            (folder / f"f{file}.txt").write_text(f"file {number} {file}\n" * 5)
    user.commit()
    before = user.git("status", "--porcelain"), (user.root / ".git" / "index").read_bytes()
    workspace = open_workspace(user)
    remove(workspace.root)
    plain = worked(subprocess.run, ["git", "checkout-index", "-a", f"--prefix={tmp_path}/plain/"], cwd=user.root)
    assert worked(create, workspace.checkout, workspace.vault, workspace.base) < 3 * plain + 5
    (workspace.root / "d1" / "e1" / "f1.txt").write_text("changed\n")
    workspace.snapshot("warm", "m", at)
    (workspace.root / "d1" / "e1" / "f2.txt").write_text("changed\n")
    status = worked(subprocess.run, ["git", "status", "--porcelain"], cwd=user.root)
    assert worked(workspace.snapshot, "one", "m", at) < 10 * status + 2
    assert workspace.changed_files(workspace.resolve("warm"), workspace.tip) == (("M", "d1/e1/f2.txt"),)
    assert len(workspace.list_files(workspace.tip)) == 50_000
    assert (user.git("status", "--porcelain"), (user.root / ".git" / "index").read_bytes()) == before
