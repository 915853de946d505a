"""Tables in somebody's page: found by their heads, given a row, and nothing else moves."""

from hypothesis import given, strategies as st

from flyball.core.text.lines import split_lines
from flyball.core.workflows.track.registers import in_column_order, tables, with_row

PAGE = "# Log\n\n| Date | What |\n|---|:-:|\n| 2025 | a |\n\n```\n| Date | Fake |\n|---|---|\n```\n## Legend\n\n| Word |\n|---|\n| a |"


def test_each_table_has_its_heading_its_columns_and_its_rows() -> None:
    first, second = tables(PAGE)
    assert (first.title, first.head, first.first, first.last) == ("log", ("date", "what"), 4, 5)
    assert (second.title, second.head, second.first, second.last) == ("legend", ("word",), 14, 15)
    assert tables("| no | rule |\n| a | b |\n") == ()


def test_values_go_where_their_columns_are_and_by_place_where_none_is_known() -> None:
    columns, values = {"date": ("date", "on"), "what": ("what",)}, {"date": "2026", "what": "b"}
    assert in_column_order(("what", "who", "on"), columns, values) == ["b", "", "2026"]
    assert in_column_order(("x", "y"), columns, values) == ["2026", "b"]


@given(st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.integers(0, 1))
def test_a_row_is_one_more_line_and_every_other_byte_stays(end: str, mark: str, which: int) -> None:
    page = mark + PAGE.replace("\n", end)
    longer = with_row(page, tables(page)[which], ["x|y", "z"])
    new = f"| x/y | z |{end}"
    assert longer.count(new) == 1
    assert longer.replace(new, "").removesuffix(end) == page


@given(st.text(alphabet="a\r\n\x0b\x0c\u2028", max_size=12))
def test_lines_are_parted_by_line_ends_alone_and_make_the_text_again(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
