"""Bad input to `run`, and tasks that are not there: exit 2, one clear sentence that names it, and nothing written anywhere."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flyball.config import file as config_file, trust
from flyball.config.home import RepositoryHome
from flyball.config.settings import RunFlags, build
from flyball.wiring.run.readiness import require_ready

PLAIN = ("--agent-command", "no-such-agent", "--gate", "test=no-such-runner")
"""An agent and a gate that no machine has, and whatever sandbox there is."""
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


def backlog(root: Path) -> None:
    (root / ".work" / "agent" / "issues").mkdir(parents=True)
    (root / ".work" / "constitution.md").write_text("# Rules\n")


def session(root: Path) -> None:
    (root / ".prp-session").mkdir()
    state = {
        "current_phase": "GREEN",
        "prp_file": "prp.md",
        "status": "running",
        "session_id": "x",
        "started_at": "2026-02-01T12:00:00Z",
        "current_iteration": 1,
        "total_agent_calls": 1,
    }
    (root / ".prp-session" / "loop-state.json").write_text(json.dumps(state))
    (root / "prp.md").write_text("# PRP\n### Success Criteria\n- [ ] rows are counted\n")


def track(root: Path) -> None:
    folder = root / "conductor" / "tracks" / "form_1"
    folder.mkdir(parents=True)
    (folder / "spec.md").write_text("# A form\n")
    (folder / "metadata.json").write_text('{"evaluators": ["eval-taste"]}')


def nothing(_root: Path) -> None:
    pass


CASES: list[tuple[str, Callable[[Path], None], tuple[str, ...], tuple[str, ...]]] = [
    (
        "a track without its folder",
        nothing,
        ("run", *AGENT, "--workflow", "track"),
        ("flyball run --from conductor/tracks/NAME",),
    ),
    ("a file as a track", nothing, ("run", "--from", "flyball.toml", *AGENT, "--workflow", "track"), ("spec.md",)),
    (
        "an evaluator nobody offers",
        track,
        ("run", "--from", "conductor/tracks/form_1", *AGENT),
        ("taste", "code-quality"),
    ),
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
    ("a time that is no time", nothing, ("run", "x", *PLAIN, "--turn-timeout", "soon"), ("--turn-timeout", "soon")),
    ("a name that settings have", nothing, ("run", "x", "--agent-command", "y", "--gate", "carry=true"), ("--gate",)),
    ("a document that is missing, unattended", nothing, ("run", "--from", "no.md", *PLAIN), ("no.md",)),
    (
        "a session for another workflow",
        session,
        ("run", "--from", ".prp-session", *PLAIN, "--workflow", "quick"),
        ("--workflow tdd",),
    ),
    ("foreign files in .loop", foreign_folder, ("run", "x", *AGENT), (".loop", "notes.txt")),
    ("a file in place of .loop", foreign_file, ("run", "x", *AGENT), (".loop",)),
]


def only_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with git alone: neither bubblewrap nor any program of an agent or a gate."""
    git = shutil.which("git")
    assert git is not None
    (repository.parent / "bin").mkdir()
    (repository.parent / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(repository.parent / "bin"))


@pytest.mark.parametrize("machine", ["as it is", "with git alone"])
@pytest.mark.parametrize(("spoil", "words", "named"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_is_refused_in_one_sentence_that_names_it_and_nothing_is_written(
    repository: Path, flyball, monkeypatch, spoil: Callable[[Path], None], words: tuple[str, ...], named, machine: str
) -> None:
    if machine == "with git alone":
        only_git(repository, monkeypatch)
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
    only_git(repository, monkeypatch)
    before = everything(repository)
    done = flyball("run", "x", "--gate", "test=true", "--sandbox", "none", "--unattended", *words)
    assert (done.code, len(done.err.strip().splitlines())) == (6, 1), done.err
    assert named in done.err
    assert everything(repository) == before
    assert not (repository.parent / "home").exists()
    assert not (repository.parent / "person").exists()


@pytest.mark.parametrize(("command", "setup"), [("./agent.sh", None), ("made-later", "true")])
def test_an_agent_that_the_tree_or_its_set_up_may_bring_is_waited_for(command: str, setup: str | None) -> None:
    flags = RunFlags(agent_command=command, setup=setup, gates=("test=true",))
    require_ready(build(None, flags), {"PATH": "/nowhere"}, Path("/"))


def a_program(folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\nexit 0\n")
    (folder / name).chmod(0o755)


def trusted(repository: Path, settings: str) -> None:
    (repository / "flyball.toml").write_text(settings)
    file = config_file.read(repository)
    assert file is not None
    trust.record(RepositoryHome.of(repository / ".git", repository), file)


READY_BESIDE_CODEX = '[agents.ready]\ncommand = ["true"]\n[agents.codex]\ntype = "codex"\n'
LOGINS = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "CODEX_API_KEY", "CODEX_HOME")


@pytest.mark.parametrize(
    ("agent", "settings", "named"),
    [
        ("claude", "", "The agent claude is not logged in; log in with: claude /login"),
        ("codex", "", "The agent codex is not logged in; log in with: codex login"),
        ("mine", '[agents.mine]\ntype = "claude"\n', "The agent mine is not logged in; log in with: claude /login"),
        ("claude", '[agents.claude]\nfallback = ["codex"]\n', "codex is not logged in"),
        (
            "ready",
            '[agents.ready]\ncommand = ["true"]\n[roles.reviewer]\nagent = "claude"\n',
            "claude is not logged in",
        ),
        (
            "ready",
            '[agents.ready]\ncommand = ["true"]\n[roles.reviewer]\nagent = "claude"\n',
            "names claude for reviewer",
        ),
        ("ready", READY_BESIDE_CODEX, "codex is there for reviewer, because another model than that of ready reviews"),
        ("ready", READY_BESIDE_CODEX, 'set agent = "ready" below [roles.reviewer] in flyball.toml'),
        ("ready", '[agents.ready]\ncommand = ["true", "{model}"]\n', "asks for {model}"),
    ],
)
def test_c9_nothing_is_opened_for_an_agent_that_could_not_work(
    repository: Path, flyball, monkeypatch, agent: str, settings: str, named: str
) -> None:
    for program in ("claude", "codex"):
        a_program(repository.parent / "bin", program)
    for name in LOGINS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{repository.parent / 'bin'}:/usr/bin:/bin")
    if settings:
        trusted(repository, settings + '[gates]\ntest = "true"\n')
    before = everything(repository.parent)
    done = flyball("run", "x", "--agent", agent, "--gate", "test=true", "--sandbox", "none", "--unattended")
    assert (done.code, len(done.err.strip().splitlines())) == (6, 1), done.err
    assert named in done.err
    assert "flyball agents" in done.err
    assert everything(repository.parent) == before


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ('[gates]\ntest = "no-such-runner -q"\n', "The gate test starts no-such-runner, which is not installed here"),
        ('[gates]\ntest = "true && X=1 no-such-runner | tee {junit}"\n', "starts no-such-runner"),
        ('[gates]\ntest = "./missing.sh"\n', "starts ./missing.sh"),
        ('lint = "no-such-linter ."\n[gates]\ntest = "true"\n', "The linter starts no-such-linter"),
        ('setup = "no-such-manager sync"\n[gates]\ntest = ".venv/bin/python"\n', "The set-up starts no-such-manager"),
    ],
)
def test_c9_nothing_is_opened_for_a_command_whose_program_is_missing(
    repository: Path, flyball, settings: str, named: str
) -> None:
    trusted(repository, settings)
    before = everything(repository.parent)
    done = flyball("run", "x", "--agent-command", "true", "--sandbox", "none", "--unattended")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1), done.err
    assert named in done.err
    assert everything(repository.parent) == before


@pytest.mark.req("C13")
@pytest.mark.parametrize(
    ("agent", "model", "prices", "named"),
    [
        (
            "codex",
            "",
            True,
            "no model is named. Limit the tokens instead: --budget-tokens N; or name one: --model MODEL",
        ),
        ("codex", "nobody-knows-it", True, "no price of nobody-knows-it is published. Limit the tokens"),
        ("codex", "gpt-5", False, "-m pip install 'genai-prices"),
        ("gemini", "", True, "--budget-tokens N"),
        ("codex", "gpt-5", True, ""),
        ("claude", "", False, ""),
    ],
)
def test_a_budget_of_money_that_cannot_be_kept_is_refused(
    repository: Path, flyball, monkeypatch, agent: str, model: str, prices: bool, named: str
) -> None:
    if not prices:
        monkeypatch.setitem(sys.modules, "genai_prices", None)
    for name in ("claude", "codex", "gemini"):
        a_program(repository.parent / "bin", name)
    for name in ("CODEX_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "dummy")
    monkeypatch.setenv("PATH", f"{repository.parent / 'bin'}:/usr/bin:/bin")
    before = everything(repository.parent)
    words = ("--agent", agent, "--budget-usd", "0.01", *(("--model", model) if model else ()))
    # The last of the refusals is that of the program: a budget that is kept comes so far.
    done = flyball("run", "x", *words, "--gate", "test=no-such-runner", "--sandbox", "none", "--unattended")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1), done.err
    assert (named or "starts no-such-runner") in done.err
    assert everything(repository.parent) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run add csv export", 'Put the request in quotes: flyball run "'),
        ("resume the csv task", 'Put several words in quotes: flyball resume "'),
        ("check the csv task", "Got unexpected extra argument"),
    ],
)
def test_words_without_quotes_are_answered_with_how_to_quote_them(tmp_path: Path, words: str, told: str) -> None:
    command = [sys.executable, "-m", "flyball", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert told in done.stderr
