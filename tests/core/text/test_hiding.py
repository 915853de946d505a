"""C47: which values are secrets, and text without them."""

from base64 import b64encode

import pytest

from flyball.core.text.hiding import HIDDEN, hide, hide_in, is_secret, secrets_of

pytestmark = pytest.mark.req("C47")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_KEY", "lettersonly"),
        ("DB_PASSWORD", "correct horse"),
        ("ANYTHING", "sk-12ab34cd56"),
        ("URL", "https://me:pa55@host/x"),
    ],
)
def test_what_is_called_or_looks_like_a_secret_is_one(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NODE_ENV", "production"),
        ("TOKEN", "short"),
        ("GOPATH", "/home/me/go1"),
        ("PORT", "127.0.0.1:8080"),
        ("PROXY", "http://proxy1:3128"),
        ("TITLE", "version 2 of it"),
    ],
)
def test_words_numbers_paths_and_addresses_are_none(name: str, value: str) -> None:
    assert not is_secret(name, value)


def test_carried_files_give_their_values_and_keys() -> None:
    env = 'export STRIPE_KEY="sk_live_abcdef"\nDEBUG=1\n# remark\nMODE: production\n'
    key = "-----BEGIN KEY-----\n" + "QUJD" * 12 + "\n-----END KEY-----\n"
    assert secrets_of({}, [env, key]) == ("QUJD" * 12, "sk_live_abcdef")


def test_values_are_hidden_as_they_are_and_as_json_spells_them() -> None:
    secrets = secrets_of({"TOKEN": 'quote"12345', "SECRET": "first-line\nsecond-line"})
    said = 'a quote"12345 b quote\\"12345 c first-line d second-line'
    assert hide(said, secrets) == f"a {HIDDEN} b {HIDDEN} c {HIDDEN} d {HIDDEN}"
    assert hide_in({"x second-line": ["first-line", 1]}, secrets) == {f"x {HIDDEN}": [HIDDEN, 1]}


def test_the_password_in_an_address_is_a_secret_by_itself() -> None:
    found = secrets_of({"DATABASE_URL": "postgres://bob:hunterhunter@host/db"}, ["url: amqp://a:rabbitrabbit@h\n"])
    assert hide("hunterhunter rabbitrabbit bob host", found) == "[hidden] [hidden] bob host"


TOKEN = "sk-Live_Ab12Cd34"


@pytest.mark.parametrize(
    "spelt",
    [
        "task-sk-live-ab12cd34-done",
        "SK_LIVE_AB12CD34",
        "sk-Live_\n    Ab12Cd34",
        "+sk-Live_Ab\n+12Cd34",
        "sk-L\x1b[1;31mive_Ab12\x1b[0mCd34",
        "sk-Live_A\u200bb12\u2060Cd34",
        '"sk-Live_Ab" + "12Cd34"',
        r'{"said": "sk-Live_\u001b[31mAb12\nCd34"}',
        "sk-**Live**_Ab12Cd34",
        "<b>sk-Live</b>_Ab12Cd34",
        "sk-Live_Ab\\\n12Cd34",
        TOKEN.encode().hex(),
        "it was cut off: sk-Live_Ab12Cd3…",
        "token=sk%2DLive%5FAb12Cd34",
        "Basic " + b64encode(f"user:{TOKEN}".encode()).decode(),
        b64encode(TOKEN.encode()).decode(),
    ],
)
def test_a_value_is_hidden_in_another_case_encoded_and_over_line_ends_and_colours(spelt: str) -> None:
    hidden = hide(spelt, (TOKEN,))
    assert HIDDEN in hidden
    assert "12cd3" not in "".join(filter(str.isalnum, hidden)).lower()
    assert "QWIxMkNk" not in hidden
    assert "41623132" not in hidden


@pytest.mark.parametrize("plain", ["sk-Live", "Ab12 Cd34 sk-Live", "sk-Live_Ab1 2Cd34", "live 12 cd", ""])
def test_what_only_resembles_a_value_is_left(plain: str) -> None:
    assert hide(plain, (TOKEN,)) == plain


@pytest.mark.parametrize("piece", ["sk-live_ab12cd3 ", '\n\\n\x1b[0m"', "s-", "sk-Live_\n"])
def test_hostile_text_is_searched_in_linear_time(piece: str) -> None:
    assert hide(piece * 100_000 + TOKEN, (TOKEN,)).endswith(HIDDEN)
