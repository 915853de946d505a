"""C47: which values are secrets, and text without them."""

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
