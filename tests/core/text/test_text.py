"""What a program printed can be shown on any screen."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st

from flyball.core.text.scrubbing import _UNSAFE, decode, one_line, scrub, storable
from flyball.projections.wording import visible

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("line\r\n", "line\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hcleared", "cleared"),
        ("\x9b31mred", "red"),
        ("\x1b]0;new title\x07after", "after"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1bP1;2|data\x1b\\after", "after"),
        ("\x1b(Bafter", "after"),
        ("\x1bcafter", "after"),
        ("bell\x07 nul\x00 del\x7f", "bell nul del"),
        ("access\u202e\u2066 level\u2069", "access level"),
        ("mark\u200f\u200e\u061c", "mark"),
        ("naïve – 日本語 🙂", "naïve – 日本語 🙂"),
        ("\x1b", ""),
        ("\x1b\x1b[31m[31m", "[31m"),
    ],
)
def test_scrub_leaves_only_what_a_screen_may_show(raw: str, clean: str) -> None:
    assert scrub(raw) == clean


@pytest.mark.req("C47")
def test_whatever_shows_nothing_or_steers_is_kept_from_screens_and_signed_on_pages_by_its_category() -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    steering = [c for c in every if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and c not in "\n\t"]
    steering += ["\u034f", "\u115f", "\u3164", "\uffa0", "\u180b", "\U000e0100"]
    assert not [hex(ord(c)) for c in steering if c in scrub(f"a{c}b") or c in visible(f"a{c}b")]
    kept = "café ❤️ 日本語 e\u0301 الع"
    assert (scrub(kept), visible(kept)) == (kept, kept)
    assert scrub("a\u2028b\u00a0c\udce9") == "a b c\\udce9"


def test_an_unterminated_title_cannot_hide_the_text_after_it() -> None:
    assert scrub("\x1b]0;rm -rf was run") == "0;rm -rf was run"


@given(st.text(alphabet=st.one_of(st.sampled_from("\x1b[]P\\;m\x07\x9b\x9d\x9c\n\t\r0a"), st.characters())))
def test_scrubbed_text_has_no_control_left_and_does_not_change_again(text: str) -> None:
    clean = scrub(text)
    assert not [c for c in clean if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and c not in "\n\t"]
    assert not [c for c in clean if unicodedata.bidirectional(c) in BIDI]
    assert scrub(clean) == clean


def test_what_is_taken_for_safe_at_a_look_is_safe() -> None:
    printable = "".join(each for each in map(chr, range(sys.maxunicode + 1)) if each.isprintable())
    assert not re.search(_UNSAFE, printable)


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1b[1;", "\x9dabc", "\x1b ", "\x9b0"])
def test_hostile_text_is_scrubbed_in_linear_time(piece: str) -> None:
    assert "\x1b" not in scrub(piece * 200_000)


def test_bytes_that_are_not_utf8_are_shown_not_lost() -> None:
    assert decode(b"ok \xff\xfe end") == "ok \\xff\\xfe end"


@given(st.binary())
def test_any_bytes_decode(raw: bytes) -> None:
    assert isinstance(decode(raw), str)


@given(st.text())
def test_text_survives_a_round_trip(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    assert decode(raw).encode() == raw


def test_words_on_two_lines_stay_two_words_on_one() -> None:
    assert one_line("first\nsecond\t\x1b[31mred\x1b[0m  end ") == "first second red end"


def test_half_a_character_becomes_one_that_can_be_stored() -> None:
    assert storable("half \ud800 whole é") == "half ? whole é"
