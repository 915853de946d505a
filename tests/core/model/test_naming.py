import re
import string

import pytest
from hypothesis import given, strategies as st

from flyball.core.model.naming import Match, Several, TaskName, next_number, parse_task_id, resolve, slug, task_id

KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@pytest.mark.req("O1")
@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Add user authentication with OAuth to the web app", "add-user-authentication-oauth-web"),
        ("Fix the bug", "fix-the-bug"),
        ("Please make the parser handle CRLF line ends", "parser-handle-crlf-line-ends"),
        ("login login LOGIN Login page", "login-page"),
        ("don't crash when it’s empty", "dont-crash-empty"),
        ("Größe der Tür prüfen", "grosse-der-tur-prufen"),
        ("Smørrebrød Œuvre Łódź", "smorrebrod-oeuvre-lodz"),
        ("fix src/app/main.py", "fix-src-app-main-py"),
        ("../../etc/passwd; rm -rf /", "etc-passwd-rm-rf"),
        ("internationalisation authentication authorization", "internationa-authenticatio-authorization"),
        ("x" * 100, "x" * 40),
        ("修复登录", "task"),
        ("", "task"),
        ("!!! ???", "task"),
        ("the", "the"),
    ],
)
def test_a_slug_is_made_of_the_keywords_of_the_request(request_text, expected):
    assert slug(request_text) == expected
    assert len(expected) <= 40


@pytest.mark.req("O1")
@given(st.text(st.characters()) | st.lists(st.text(string.ascii_letters, min_size=1, max_size=60)).map(" ".join))
def test_any_request_gives_a_kebab_slug_of_at_most_forty_characters(request_text):
    made = slug(request_text)
    assert KEBAB.fullmatch(made)
    assert len(made) <= 40
    assert made.count("-") <= 4
    assert slug(request_text) == made
    assert parse_task_id(task_id(1, made)) == (1, made)


@given(st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=60), min_size=3, unique=True))
def test_a_request_of_three_words_or_more_keeps_at_least_three(words):
    assert slug(" ".join(words)).count("-") >= 2


@pytest.mark.req("O1")
def test_task_ids_have_three_digits_until_there_are_more_than_999():
    assert task_id(7, "a-b") == "007-a-b"
    assert task_id(1000, "a") == "1000-a"
    assert parse_task_id("1000-a") == (1000, "a")


@pytest.mark.parametrize(
    ("number", "name"), [(0, "a"), (-1, "a"), (1, ""), (1, "A"), (1, "a--b"), (1, "../x"), (1, "a" * 41), (10**6, "a")]
)
def test_an_impossible_id_is_refused(number, name):
    with pytest.raises(ValueError, match="is not a task id"):
        task_id(number, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7-a",
        "07-a",
        "0007-a",
        "007",
        "007-",
        "007-A",
        "007-a_b",
        "007-a\n",
        "x007-a",
        "\u0660\u0660\u0667-a",
        "20260101-notes",
    ],
)
def test_any_other_name_is_no_task_id(text):
    assert parse_task_id(text) is None


@pytest.mark.req("O1")
def test_the_next_number_follows_the_highest_and_foreign_names_do_not_count():
    assert next_number([]) == 1
    assert next_number(["notes", "002-b", "009-x", "20260101-diary", ".tmp", "010"]) == 10
    assert next_number(["999-z"]) == 1000
    assert next_number(["004-Foreign Folder"]) == 5


LOGIN = TaskName(task_id(1, "add-login-page"), "Add a login page with a captcha")
FORM = TaskName(task_id(2, "fix-login-form"), "The login form loses what was typed")
EXPORT = TaskName(task_id(12, "csv-export"), "Export reports as CSV for the accounting people")
TASKS = (LOGIN, FORM, EXPORT)


@pytest.mark.req("O2")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("001-add-login-page", Match(LOGIN, "id")),
        (" 001-ADD-login-page ", Match(LOGIN, "id")),
        ("1", Match(LOGIN, "id")),
        ("012", Match(EXPORT, "id")),
        ("page", Match(LOGIN, "part")),
        ("login form", Match(FORM, "part")),
        ("expo", Match(EXPORT, "part")),
        ("login", Several((LOGIN, FORM))),
        ("the captcha", Match(LOGIN, "words")),
        ("reports for accounting", Match(EXPORT, "words")),
        ("typed form thing", Match(FORM, "words")),
        ("account", Match(EXPORT, "words")),
        ("resume the captcha task", Match(LOGIN, "words")),
        ("keep working on the login form", Match(FORM, "part")),
        ("please continue with the csv export again", Match(EXPORT, "part")),
        ("go on with task 12", Match(EXPORT, "id")),
        ("resume 001-add-login-page", Match(LOGIN, "id")),
        ("resume the login task", Several((LOGIN, FORM))),
        ("keep working", None),
        ("resume the payments task", None),
        ("payments", None),
        ("some payments captcha thing", None),
        ("", None),
        ("  ", None),
        ("???", None),
        ("99", None),
    ],
)
def test_a_task_is_found_by_id_part_or_words(words, expected):
    assert resolve(words, TASKS) == expected


@pytest.mark.req("O2")
def test_an_exact_id_wins_over_ids_it_is_a_part_of():
    short, long = TaskName(task_id(1, "login")), TaskName(task_id(11, "login-page"))
    assert resolve("001-login", (long, short)) == Match(short, "id")
    assert resolve("1", (long, short)) == Match(short, "id")


def test_without_tasks_nothing_is_found():
    assert resolve("login", ()) is None


@given(st.text(st.characters()))
def test_no_words_make_the_search_raise(words):
    resolve(words, TASKS)
