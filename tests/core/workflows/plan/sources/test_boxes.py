"""Finding checkboxes line by line: the odd cases that real plan files hold."""

import pytest
from markdown_it import MarkdownIt

from flyball.core.workflows.plan.sources.boxes import scan


def texts(raw: bytes) -> list[str]:
    return [box.text for box in scan(raw).boxes]


@pytest.mark.parametrize(
    "line",
    [
        b"- [ ] work",
        b"* [ ] work",
        b"+ [ ] work",
        b"1. [ ] work",
        b"12) [ ] work",
        b"\t- [ ] work",
        b"        - [ ] work",
        b"- [ ]work",
        b"-\t[ ]\twork",
    ],
)
@pytest.mark.req("O23")
def test_every_kind_of_bullet_and_indent_begins_a_box(line: bytes) -> None:
    assert texts(line) == ["work"]


@pytest.mark.parametrize(
    "line",
    [
        b"- [P] tasks = different files",
        b"- [Story] label maps a task to its story",
        b"- [2026-01-29] the release",
        b"- [link](https://example.org)",
        b"- [x](https://example.org)",
        b"- [x][reference]",
        b"- [x]: https://example.org",
        b"- [1] a footnote",
        b"[ ] no bullet",
        b"-[ ] no blank after the bullet",
        b"> - [ ] quoted",
    ],
)
@pytest.mark.req("O23")
def test_what_only_looks_like_a_box_is_text(line: bytes) -> None:
    assert texts(line) == []


def test_a_full_width_bracket_may_follow_a_box_directly() -> None:
    assert texts("- [x]\uff08text".encode()) == ["\uff08text"]


def test_marks_are_kept_as_they_stand() -> None:
    raw = b"".join(b"- [%c] a\n" % mark for mark in b" xX~-!")
    assert [box.mark for box in scan(raw).boxes] == [" ", "x", "X", "~", "-", "!"]


@pytest.mark.parametrize("box", [b"[ x]", b"[x ]", b"[]", b"[  ]", "[✓]".encode()])
def test_a_box_that_cannot_be_read_is_named_with_its_line(box: bytes) -> None:
    (defect,) = scan(b"- [ ] one\n- " + box + b" two\n").defects
    assert (defect.line, defect.fatal) == (2, True)
    assert "expected [ ] or [x]" in defect.message


def test_boxes_in_fences_and_comments_are_examples() -> None:
    raw = b"""- [ ] real
```text
- [ ] in a fence
~~~
- [ ] still in it
````
- [ ] after a longer closing
<!-- a note
- [ ] in a comment
-->
- [ ] last <!-- closed on its line -->
"""
    found = scan(raw)
    assert [box.line for box in found.boxes] == [1, 7, 11]
    assert found.hidden == [3, 5, 9]


@pytest.mark.parametrize("opening", [b"```", b"<!-- note"])
def test_a_fence_or_comment_that_hides_boxes_to_the_end_is_a_defect(opening: bytes) -> None:
    (defect,) = scan(b"- [ ] one\n" + opening + b"\n- [ ] two\n").defects
    assert (defect.line, defect.fatal) == (2, True)
    assert "line 3" in defect.message


def test_a_star_after_the_box_makes_it_optional_even_escaped_by_a_formatter() -> None:
    found = scan(b"- [ ]* 2.5 one\n- [ ]\\* 2.6 two\n- [ ] 2.7 three\n").boxes
    assert [(box.text, box.optional) for box in found] == [("2.5 one", True), ("2.6 two", True), ("2.7 three", False)]


def test_bullets_below_a_box_are_its_details_and_wrapped_lines_its_text() -> None:
    raw = b"""- [ ] first
  goes on here
  - a point
    that goes on
  - another

  a paragraph
- not below it
- [ ] second
"""
    first, second = scan(raw).boxes
    assert first.text == "first goes on here"
    assert first.details == ["a point that goes on", "another", "a paragraph"]
    assert second.details == []


def test_a_box_is_nested_in_the_box_it_is_indented_below() -> None:
    raw = b"- [ ] a\n  - [ ] b\n    - [ ] c\n  - [ ] d\n- plain\n  - [ ] e\n## H\n  - [ ] f\n"
    assert [box.parent for box in scan(raw).boxes] == [-1, 0, 1, 0, -1, -1]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_change_no_answer_and_every_place_is_exact(end: bytes, bom: bytes) -> None:
    raw = bom + end.join((b"- [ ] a", b"", b"## H", b"\t- [x] b", b"- [ ] c"))
    found = scan(raw).boxes
    assert [box.text for box in found] == ["a", "b", "c"]
    assert [raw[box.place : box.place + 1].decode() for box in found] == [box.mark for box in found]


def test_only_a_newline_ends_a_line() -> None:
    assert texts("- [ ] a\x0cb\u2028- [ ] c\n".encode()) == ["a b - [ ] c"]


def test_the_scanner_agrees_with_a_markdown_parser_on_where_boxes_are() -> None:
    raw = b"""# Plan

- [ ] one
  ```
  - [ ] no
  ```
- [x] two
  1. [ ] three
* plain
    - [ ] four

~~~md
- [ ] no
~~~
<!--
- [ ] no
-->
+ [X] five
"""
    tokens = MarkdownIt("commonmark").parse(raw.decode())
    lines = [
        (token.map or [0])[0] + 1
        for before, token in zip(tokens, tokens[2:], strict=False)
        if before.type == "list_item_open" and token.type == "inline" and token.content[:3] in {"[ ]", "[x]", "[X]"}
    ]
    assert [box.line for box in scan(raw).boxes] == lines
