"""Bad input to `run`, and tasks that are not there: exit 2, one clear sentence that names it, and nothing written anywhere."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flyball.config.settings import Here, RunFlags, build
from flyball.wiring.agents import require_installed

AGENT = ("--agent-command", "true", "--gate", "test=true", "--sandbox", "none", "--unattended")


def everything(*roots: Path) -> dict[str, bytes | None]:
    """Every folder and file below some folders, with its content."""
    return {
        str(path): path.read_bytes() if path.is_file() else None for root in roots for path in sorted(root.rglob("*"))
    }


def broken_settings(root: Path) -> None:
    (root / "flyball.toml").write_text("[limits]\nmax_turns = 'many'\n")


def unknown_key(root: Path) -> None:
    (root / "flyball.toml").write_text('agent = "claude"\n[limit]\nmax_turns = 3\n')


def no_toml(root: Path) -> None:
    (root / "flyball.toml").write_text("[limits\n")


def unknown_agent(root: Path) -> None:
    (root / "flyball.toml").write_text('agent = "clod"\n')


def foreign_folder(root: Path) -> None:
    (root / ".loop").mkdir()
    (root / ".loop" / "notes.txt").write_text("mine\n")


def foreign_file(root: Path) -> None:
    (root / ".loop").write_text("mine\n")


def nothing(_root: Path) -> None:
    pass


CASES: list[tuple[str, Callable[[Path], None], tuple[str, ...], tuple[str, ...]]] = [
    ("nothing asked for", nothing, ("run", *AGENT), ("flyball run",)),
    (
        "settings of a wrong kind",
        broken_settings,
        ("run", "x", *AGENT),
        ("flyball.toml, line 2", "limits.max_turns", '"many"'),
    ),
    ("an unknown key", unknown_key, ("run", "x"), ("flyball.toml, line 2", "limits")),
    ("no TOML", no_toml, ("run", "x", *AGENT), ("flyball.toml, line 1", "TOML")),
    ("an unknown agent in the settings", unknown_agent, ("run", "x", "--gate", "test=true"), ("clod", "claude")),
    ("an unknown agent", nothing, ("run", "x", "--agent", "clod", "--gate", "test=true"), ("clod", "claude")),
    ("an unknown workflow", nothing, ("run", "x", *AGENT, "--workflow", "waterfall"), ("waterfall", "tdd")),
    ("an unknown sandbox", nothing, ("run", "x", *AGENT, "--sandbox", "docker"), ("docker", "bwrap")),
    ("a gate without a command", nothing, ("run", "x", "--agent-command", "true", "--gate", "test"), ("--gate",)),
    (
        "an agent without a program",
        nothing,
        ("run", "x", "--agent-command", "", "--gate", "t=true"),
        ("--agent-command",),
    ),
    (
        "a command line that does not end",
        nothing,
        ("run", "x", "--agent-command", "mine 'x", "--gate", "t=true"),
        ("--agent-command", "has a quotation mark that is not closed"),
    ),
    ("a document that is not there", nothing, ("run", "--from", "no.md", *AGENT), ("no.md",)),
    ("foreign files in .loop", foreign_folder, ("run", "x", *AGENT), (".loop", "notes.txt")),
    ("a file in place of .loop", foreign_file, ("run", "x", *AGENT), (".loop",)),
]


@pytest.mark.parametrize(("spoil", "words", "named"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_is_refused_in_one_sentence_that_names_it_and_nothing_is_written(
    repository: Path, flyball, spoil: Callable[[Path], None], words: tuple[str, ...], named: tuple[str, ...]
) -> None:
    spoil(repository)
    before = everything(repository)
    done = flyball(*words)
    assert done.code == 2, done.err
    assert done.out == ""
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert done.err.startswith("flyball: ")
    assert [word for word in named if word not in done.err] == [], done.err
    assert everything(repository) == before
    assert everything(repository.parent / "home") == {}


@pytest.mark.parametrize("words", [("run", "x", *AGENT), ("resume",), ("status",), ("list",)])
def test_outside_a_repository_nothing_is_done(tmp_path: Path, flyball, monkeypatch, words: tuple[str, ...]) -> None:
    place = tmp_path / "nowhere"
    place.mkdir()
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(place)
    done = flyball(*words)
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1), done.err
    assert "git init" in done.err
    assert everything(place) == {}
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("words", [("resume",), ("resume", "042"), ("status", "042"), ("report",)])
def test_a_task_that_is_not_there_is_said_with_how_to_start_one(
    repository: Path, flyball, words: tuple[str, ...]
) -> None:
    before = everything(repository)
    done = flyball(*words)
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1), done.err
    assert "flyball run" in done.err
    assert everything(repository) == before


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--agent", "claude"), "needs claude, which is not installed"),
        (("--agent-command", "no-such-agent -x"), "needs no-such-agent, which is not installed"),
        (("--agent-command", "/no/such-agent"), "needs /no/such-agent, which is not installed"),
    ],
)
def test_an_agent_that_is_not_installed_is_said_before_anything_is_made(
    repository: Path, flyball, monkeypatch, words: tuple[str, ...], named: str
) -> None:
    git = shutil.which("git")
    assert git is not None
    (repository.parent / "bin").mkdir()
    (repository.parent / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(repository.parent / "bin"))
    before = everything(repository)
    done = flyball("run", "x", "--gate", "test=true", "--sandbox", "none", "--unattended", *words)
    assert (done.code, len(done.err.strip().splitlines())) == (6, 1), done.err
    assert named in done.err
    assert everything(repository) == before
    assert not (repository.parent / "home").exists()
    assert not (repository.parent / "person").exists()


@pytest.mark.parametrize(("command", "setup"), [("./agent.sh", None), ("made-later", "make tools")])
def test_an_agent_that_the_tree_or_its_set_up_may_bring_is_waited_for(command: str, setup: str | None) -> None:
    flags = RunFlags(agent_command=command, setup=setup, gates=("test=true",))
    require_installed(build(None, flags, Here()), {"PATH": "/nowhere"})
