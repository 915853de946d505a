import os
from pathlib import Path

import pytest

from flyball.config import trust
from flyball.config.errors import ConfigError
from flyball.config.file import FileConfig, parse
from flyball.config.home import RepositoryHome
from flyball.config.settings import RunFlags

BASE = (
    'setup = "make deps"\nlint = "ruff check ."\nsandbox = "auto"\n[agents.main]\ncommand = ["prog", "a b"]\n'
    'env = ["KEY"]\n[gates]\ntest = "pytest"\ncarry = [".env"]\n[limits]\nmax_turns = 3\n'
)


@pytest.fixture
def home(tmp_path: Path) -> RepositoryHome:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return RepositoryHome.of(tmp_path / "repo" / ".git", tmp_path / "repo", tmp_path / "home")


@pytest.fixture
def config(tmp_path: Path) -> FileConfig:
    return parse(BASE, tmp_path / "repo" / "flyball.toml")


def test_what_would_run_is_shown(config: FileConfig) -> None:
    assert trust.needs_trust(config) == (
        "gate test runs: pytest",
        "set-up runs: make deps",
        "lint runs: ruff check .",
        "agent main runs: prog 'a b'",
        "agent main sees the variables: KEY",
        "gates see the ignored files: .env",
    )


def test_nothing_is_trusted_until_a_person_said_so(home: RepositoryHome, config: FileConfig) -> None:
    with pytest.raises(ConfigError, match=r"flyball.toml is not trusted.*gate test runs: pytest.*type: flyball trust"):
        trust.require(home, config)
    record = trust.record(home, config)
    trust.require(home, config)
    assert record.is_relative_to(home.folder)
    assert "gate test runs: pytest" in record.read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"pytest"', '"pytest; curl x"'),
        ("make deps", "make other"),
        ("ruff check", "ruff format"),
        ('"a b"', '"a", "b"'),
        ('["KEY"]', '["KEY", "OTHER"]'),
        ('"auto"', '"none"'),
        ('".env"', '".env", ".secrets"'),
        ("max_turns = 3", "calls_per_hour = 1000"),
        ("max_turns = 3", "idle_timeout = 0"),
        ("[limits]", '[ship]\npush = true\n[qa]\nreadme = "off"\n[limits]'),
        ("[limits]", "[import]\nclose_issues = true\n[limits]"),
        ("[limits]", "[breaker.GREEN]\nno_progress = 9\n[limits]"),
        ("[limits]", "[monitor]\npatience = 21\n[limits]"),
        ("[limits]", '[gates.more]\ncommand = "x"\n[limits]'),
        ("env = ", 'exit_signal = "exit-0"\nenv = '),
        ("sandbox = ", "attended = false\nsandbox = "),
    ],
)
def test_content_that_runs_or_allows_more_is_asked_for_again(
    home: RepositoryHome, config: FileConfig, old: str, new: str
) -> None:
    trust.record(home, config)
    changed = parse(BASE.replace(old, new), config.origin.path)
    assert not trust.is_trusted(home, changed)
    assert trust.is_trusted(home, config)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_turns = 3", "max_turns = 9"),
        ("max_turns = 3", "calls_per_hour = 5"),
        ("[limits]", "[breaker.GREEN]\nno_progress = 1\n[limits]"),
        ('"auto"', '"bwrap"'),
        ("sandbox = ", "network = false\nsandbox = "),
        ("setup", "# a comment\nsetup"),
    ],
)
def test_content_that_only_tightens_is_not_asked_for_again(
    home: RepositoryHome, config: FileConfig, old: str, new: str
) -> None:
    trust.record(home, config)
    assert trust.is_trusted(home, parse(BASE.replace(old, new), config.origin.path))


def test_the_content_of_a_script_counts(home: RepositoryHome, tmp_path: Path) -> None:
    script = tmp_path / "repo" / "demo.toml"
    script.write_text("one")
    text = '[agents.a]\ntype = "scripted"\nscript = "demo.toml"\n'
    config = parse(text, tmp_path / "repo" / "flyball.toml")
    trust.record(home, config)
    assert trust.is_trusted(home, config)
    script.write_text("two")
    assert not trust.is_trusted(home, config)
    script.unlink()
    assert not trust.is_trusted(home, config)
    os.mkfifo(script)
    assert not trust.is_trusted(home, config)


def test_another_repository_with_the_same_content_is_not_trusted(
    home: RepositoryHome, config: FileConfig, tmp_path: Path
) -> None:
    trust.record(home, config)
    (tmp_path / "other" / ".git").mkdir(parents=True)
    other = RepositoryHome.of(tmp_path / "other" / ".git", tmp_path / "other", tmp_path / "home")
    assert not trust.is_trusted(other, config)


def test_without_a_file_or_with_one_that_only_tightens_nothing_is_asked(home: RepositoryHome) -> None:
    assert trust.is_trusted(home, None)
    tight = parse("attended = true\n[limits]\nmax_turns = 1\nturn_timeout = 5\n[code]\ncomplexity = 5\n")
    assert trust.needs_trust(tight) == ()
    assert trust.is_trusted(home, tight)


def test_what_was_typed_takes_the_place_of_the_file_and_needs_no_trust(home: RepositoryHome) -> None:
    config = parse(
        'setup = "x"\nsandbox = "none"\n[agents.a]\ncommand = ["y"]\n[gates]\ntest = "z"\n[limits]\nturn_timeout = "9h"\n'
    )
    some = RunFlags(agent_command="prog", setup="s", sandbox="none", turn_timeout=9)
    assert trust.needs_trust(config, some) == ("gate test runs: z",)
    assert not trust.is_trusted(home, config, some)
    everything = RunFlags(agent_command="prog", setup="s", sandbox="none", turn_timeout=9, gates=("test=pytest",))
    assert trust.is_trusted(home, config, everything)
