"""Foreign text must be shown as it stands: nothing in it may act as markup, as a line end or on a terminal."""

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from flyball.core.text.scrubbing import one_line, storable
from flyball.projections.wording import code, duration, escape, plain, split_command

HOSTILE = [
    "# PASSED",
    "- [x] all done",
    "1. first",
    "12) twelfth",
    "> quoted",
    "**bold** _it_ __b__ ~~no~~ `code`",
    "<script>alert(1)</script> <b>",
    "[click](javascript:alert(1)) ![img](x)",
    "a | b | c",
    "&lt; &copy;",
    "trailing \\",
    "--- \n===\n## next",
    "```\nfence",
    "snake_case_name stays",
    "\x1b[31mred\x1b[0m \u202eevil",
    "<http://x.y>",
]


def shown(markdown: str) -> tuple[str, set[str]]:
    """The text a reader sees, and the kinds of tokens it is made of."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in tokens} | {child.type for child in inline}
    return "".join(child.content for child in inline), kinds


PLAIN_KINDS = {
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
    "list_item_close",
    "paragraph_open",
    "paragraph_close",
    "inline",
    "text",
    "text_special",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_stands(text):
    said, kinds = shown(f"- {escape(text)}\n")
    assert kinds <= PLAIN_KINDS
    assert said == plain(text)


@given(st.text(alphabet=st.sampled_from("ab1 #*_`~[]()<>!|\\&;.-+=:/\n\t\u202e\x1b"), max_size=40))
def test_no_text_becomes_markup_in_a_list_item(text):
    said, kinds = shown(f"- x {escape(text)}\n")
    assert kinds <= PLAIN_KINDS
    assert said.rstrip() == f"x {plain(text)}".rstrip()


@given(st.text(alphabet=st.sampled_from("ab1 #*_`~[]()<>!|\\&;.-+=:\n"), min_size=1, max_size=30))
def test_no_text_becomes_markup_at_the_beginning_of_an_item(text):
    said, kinds = shown(f"- {escape(text)}\n")
    assert kinds <= PLAIN_KINDS
    assert said == plain(text)


@given(st.text(alphabet=st.sampled_from("ab|\\`_*"), max_size=20))
def test_a_table_cell_keeps_its_row_whole(text):
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a | b |\n|---|---|\n| {escape(text)} | end |\n")
    cells = [t.children for t in tokens if t.type == "inline"]
    assert len(cells) == 4
    assert "".join(child.content for child in cells[3] or ()) == "end"


@given(st.text(alphabet=st.sampled_from("ab `\n<*"), max_size=30))
def test_nothing_inside_ends_a_code_span(text):
    _said, kinds = shown(f"x {code(text)} y\n")
    assert kinds <= PLAIN_KINDS | {"code_inline"}


def test_plain_is_one_line_without_control_sequences_and_not_too_long():
    assert plain("a\nb\x1b]0;title\x07c\u202e") == "a bc"
    assert len(plain("x" * 5000, 300)) == 300


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" \t\n\x1b\u202e\u00a0\ud800"), max_size=40))
def test_a_text_that_is_left_as_it_is_had_nothing_to_be_taken_away(text):
    line, said = one_line(storable(text)), plain(text, 12)
    if len(line) <= 12:
        assert said == line
    else:
        assert said.endswith("…")
        assert len(said) <= 12
        assert line.startswith(said[:-1])


def test_a_text_is_cut_between_words_unless_the_word_is_very_long():
    assert plain("alpha beta gamma", 13) == "alpha beta…"
    assert plain("alpha beta gamma", 11) == "alpha beta…"
    assert plain("alpha " + "x" * 60, 50) == "alpha " + "x" * 43 + "…"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "0 s"), (41, "41 s"), (185, "3 min 5 s"), (7440, "2 h 4 min"), (-3, "0 s")]
)
def test_durations_read_naturally(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("text", "told", "command"),
    [
        (
            "It is not trusted. Read it, then type: flyball trust",
            "It is not trusted. Read it, then type:",
            "flyball trust",
        ),
        (
            "Turn 3 left no checkpoint. See: flyball checkpoints 7",
            "Turn 3 left no checkpoint. See:",
            "flyball checkpoints 7",
        ),
        ("Choose an answer or write one.", "Choose an answer or write one.", ""),
        ("Type: flyball run --agent NAME; or another", "Type: flyball run --agent NAME; or another", ""),
    ],
)
def test_the_command_a_refusal_ends_with_stands_on_a_line_of_its_own(text: str, told: str, command: str) -> None:
    assert split_command(text) == (told, command)
