"""A patch by file and line, and comments on its lines as guidance."""

from datetime import UTC, datetime, timedelta

from flyball.projections.history.records import TurnRecord, WordRecord
from flyball.projections.pages.diffs import FileDiff, files_of, find_line, theirs_first
from flyball.projections.pages.guidance import Comment, comments_in, guidance, sent_comments

PATCH = """diff --git a/src/a b.py b/src/a b.py
index 1..2 100644
--- a/src/a b.py
+++ b/src/a b.py\t
@@ -18,3 +18,4 @@ class A:
     def accept(self):
-        return True
+        key = 1
+        return key
     end
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+-- not a header
diff --git a/pic.png b/pic.png
index 3..4
Binary files a/pic.png and b/pic.png differ
diff --git a/old.py b/moved.py
similarity index 90%
rename from old.py
rename to moved.py
"""


def test_a_patch_is_told_by_file_with_both_numbers_of_each_line() -> None:
    files = files_of(PATCH)
    assert [(f.path, f.change, f.binary) for f in files] == [
        ("src/a b.py", "changed", False),
        ("new.txt", "new", False),
        ("pic.png", "changed", True),
        ("moved.py", "renamed", False),
    ]
    assert (files[0].added, files[0].deleted) == (2, 1)
    assert [(x.kind, x.old, x.new) for x in files[0].hunks[0].lines] == [
        (" ", 18, 18),
        ("-", 19, None),
        ("+", None, 19),
        ("+", None, 20),
        (" ", 20, 21),
    ]
    assert files[0].hunks[0].skipped == 17
    assert files[1].hunks[0].lines[0].text == "-- not a header"


def test_a_line_of_five_megabytes_and_very_many_lines_are_cut() -> None:
    head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9000 +1,9000 @@\n"
    (file,) = files_of(head + "+" + "y" * 5_000_000 + "\n" + "+z\n" * 9000)
    assert len(file.hunks[0].lines[0].text) == 2000
    assert file.added == 9001
    assert file.cut
    assert len(file.hunks[0].lines) == 6000
    assert file.large


def test_a_line_is_found_by_its_number_on_the_newer_side_first() -> None:
    files = files_of(PATCH)
    line = find_line(files, "src/a b.py", 19)
    assert line is not None
    assert line.text == "        key = 1"
    assert find_line(files, "src/a b.py", 99) is None


def test_comments_become_one_text_with_path_line_and_code_and_are_found_in_it_again() -> None:
    comments = [
        Comment("src/dedupe.py", 21, "Put the sign\ninto the key.", "key = (`a`, b)"),
        Comment("tests/test_dedupe.py", 11, "Add a case: two refunds on one day"),
    ]
    text = guidance(comments)
    assert "- src/dedupe.py:21 (`key = ('a', b)`): Put the sign into the key." in text
    for kept in (text, " ".join(text.split())):
        assert [(c.path, c.line, c.text) for c in comments_in(kept)] == [
            ("src/dedupe.py", 21, "Put the sign into the key."),
            ("tests/test_dedupe.py", 11, "Add a case: two refunds on one day"),
        ]
    assert comments_in("just words: a.py:3 is wrong") == []


def test_a_comment_is_delivered_with_the_first_turn_that_begins_after_it() -> None:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    word = WordRecord(at, "modify", guidance([Comment("a.py", 3, "no")]), "")
    turn = TurnRecord(7, "S", 1, "implementer", "claude", "", "", at + timedelta(minutes=1))
    assert [each.turn for each in sent_comments([word], [])] == [0]
    assert [each.turn for each in sent_comments([word], [turn])] == [7]


def test_the_files_flyball_keeps_come_after_the_work() -> None:
    names = [".loop/001-a/report.md", "README.md", "src/a.py", ".loopy/b.py"]
    assert [file.path for file in theirs_first([FileDiff(name) for name in names])] == [*names[1:], names[0]]
