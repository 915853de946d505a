"""The pages beside a track: rows, boxes and entries are added once, and everything else stays."""

import json

import pytest

from flyball.core.workflows.track import registers

TRACKS = """# Tracks

## Active
| Track ID | Name | Type | Status | Step | Created |
|---|---|---|---|---|---|
| form_20261117 | Form | feature | in_progress | EXECUTE | 2026-11-17 |
| form_20261117b | Other | ui | new | PLAN | 2026-11-01 |

## Completed
| Track ID | Name | Completed | Summary |
|---|---|---|---|
| old_20260101 | Old | 2026-02-01 | done |

Notes of a person.
"""


@pytest.mark.req("D40")
def test_a_completed_track_moves_from_one_table_to_the_other() -> None:
    moved = registers.with_completed(TRACKS, "form_20261117", "Form", "2026-11-18", "two | tasks")
    assert "| form_20261117 | Form | feature" not in moved
    assert "| form_20261117b | Other" in moved
    assert (
        "| old_20260101 | Old | 2026-02-01 | done |\n| form_20261117 | Form | 2026-11-18 | two / tasks |\n\nNotes"
        in moved
    )
    assert registers.with_completed(moved, "form_20261117", "Form", "2026-11-18", "two | tasks") == moved


def test_a_page_without_tables_is_left_as_it_is() -> None:
    assert registers.with_completed("# Tracks\n- form\n", "form", "Form", "2026-11-18", "x") == "# Tracks\n- form\n"


def test_an_index_gets_its_box_ticked() -> None:
    assert registers.with_ticked("- [ ] [form_1](tracks/form_1)\n- [ ] form_12\n", "form_1") == (
        "- [x] [form_1](tracks/form_1)\n- [ ] form_12\n"
    )


@pytest.mark.req("D40")
def test_a_decision_is_one_more_row_and_a_missing_log_is_begun() -> None:
    log = registers.with_decision("", "2026-11-18", "prices follow the code", "form_1", ("product.md",), "abc1234")
    assert log.startswith("# Decision log\n\n| Date | Decision | Source | Documents Updated | Commit |\n")
    assert log.endswith("| 2026-11-18 | prices follow the code | form_1 | product.md | abc1234 |\n")
    assert (
        registers.with_decision(log, "2026-11-18", "prices follow the code", "form_1", ("product.md",), "abc1234")
        == log
    )


@pytest.mark.req("D41")
def test_known_errors_are_found_by_pattern_and_new_ones_are_added_once() -> None:
    entry = {
        "pattern": registers.as_pattern("line 12: silent except"),
        "problem": "p",
        "solution": "s",
        "discovered_in": "t",
    }
    text = registers.with_errors("", [entry], "2026-11-18")
    known = json.loads(text)["errors"]
    assert (known[0]["id"], known[0]["occurrences"]) == ("err-001", 1)
    assert registers.with_errors(text, [entry], "2026-11-18") == text, "the same day and track count once"
    later = json.loads(registers.with_errors(text, [entry], "2026-11-19"))["errors"]
    assert (len(later), later[0]["occurrences"]) == (1, 2)
    assert registers.matching_errors(known, "line 99: Silent Except in b.py") == (known[0],)


def test_a_pattern_that_could_take_for_ever_is_taken_by_its_words() -> None:
    evil = {"pattern": "(a+)+$"}
    assert registers.matching_errors([evil], "a" * 4000 + "!") == ()


@pytest.mark.req("D40")
def test_rows_go_by_the_columns_a_page_has_and_only_into_the_table_that_is_meant() -> None:
    page = "\ufeff## Active\r\n| Name | Track ID |\r\n|---|---|\r\n| Form | form_1 |\r\n| Next, after form_1 | x_2 |\r\n## Completed\r\n| Name | Summary | Track ID |\r\n|---|---|---|"
    moved = registers.with_completed(page, "form_1", "Form", "2026-11-18", "done")
    assert moved == page.replace("| Form | form_1 |\r\n", "") + "\r\n| Form | done | form_1 |\r\n"
    log = "| Commit | Decision |\n|---|---|\n\n| Word | Meaning |\n|---|---|\n| a | b |\n"
    logged = registers.with_decision(log, "2026-11-18", "so", "form_1", ("product.md",), "abc")
    assert logged == log.replace("|---|---|\n\n", "|---|---|\n| abc | so |\n\n")
    assert registers.with_decision(logged, "2026-11-18", "so", "form_1", ("product.md",), "abc") == logged


@pytest.mark.req("D41")
def test_errors_are_added_and_counted_in_the_text_as_it_is_written() -> None:
    page = '\ufeff{\r\n\t"version": 1,\r\n\t"errors": [\r\n\t\t{"id": "err-007", "pattern": "y", "occurrences": 1}\r\n\t],\r\n\t"own": [1,2]\r\n}'
    entry = {"pattern": "x", "problem": "p", "solution": "s", "discovered_in": "form"}
    more = registers.with_errors(page, ({"pattern": "y", "problem": "", "solution": ""}, entry), "2026-11-18")
    assert more.startswith(page.split('"occurrences": 1}', maxsplit=1)[0] + '"occurrences": 2')
    assert more.endswith('\r\n\t],\r\n\t"own": [1,2]\r\n}')
    found = json.loads(more.removeprefix("\ufeff"))["errors"]
    assert [(e["id"], e["occurrences"], e["last_seen"]) for e in found] == [
        ("err-007", 2, "2026-11-18"),
        ("err-008", 1, "2026-11-18"),
    ]
    assert registers.with_errors(more, (entry,), "2026-11-18") == more
    assert json.loads(registers.with_errors('{"own": 1}', (entry,), "2026-11-18"))["errors"][0]["id"] == "err-001"
