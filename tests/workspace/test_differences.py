"""What lies between two trees, read from one patch."""

import pytest

from flyball.workspace.differences import differences

EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.mark.req("D20")
def test_changed_lines_moves_and_deletions_are_told(user, workspace):
    user.write("long.py", "".join(f"line {n}\n" for n in range(20)))
    user.write("gone.py", "x = 1\n")
    user.commit("Before")
    before = user.git("rev-parse", "HEAD").strip()
    user.git("mv", "long.py", "deep name.py")
    text = (user.root / "deep name.py").read_text().replace("line 4\n", "line four\n").replace("line 9\n", "")
    user.write("deep name.py", text)
    user.write("new.py", "-- not a head\n++ nor this\n@@ -1 +1 @@\ndiff --git x\n")
    user.write("b.txt", "one\ntwo\nthree")
    (user.root / "gone.py").unlink()
    user.commit("After")
    told = {each.path: each for each in differences(workspace.vault, before, user.git("rev-parse", "HEAD").strip())}
    assert told["deep name.py"].was == "long.py"
    assert told["deep name.py"].spans == ((5, 5), (9, 10))
    assert told["new.py"].spans == ((1, 4),)
    assert told["new.py"].lines == ("-- not a head", "++ nor this", "@@ -1 +1 @@", "diff --git x")
    assert told["b.txt"].spans == ((3, 3),)
    assert told["gone.py"].gone
    assert set(told) == {"deep name.py", "new.py", "b.txt", "gone.py"}


def test_a_tree_without_files_is_a_beginning_like_any_other(user, workspace):
    head = user.git("rev-parse", "HEAD").strip()
    told = {each.path: each.spans for each in differences(workspace.vault, EMPTY, head)}
    assert told["b.txt"] == ((1, 2),)
