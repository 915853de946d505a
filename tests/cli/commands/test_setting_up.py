"""init, check, trust and doctor."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.builders import OPENED_AT, Story

from flyball.cli.commands.init import _write
from flyball.config import file as config_file, trust
from flyball.config.home import home_folder
from flyball.core.model.events import SessionStarted
from flyball.journal.leases import Lease, this_process
from flyball.ports import Refusal
from flyball.web.sites import Sites
from flyball.wiring.tools.checkup import checkup

GATE = f"{sys.executable} -m pytest -q -p no:cacheprovider --junitxml={{junit}}"
CONFIG = '[agents.mine]\ncommand = ["mine"]\n\n[gates]\ntest = "make test"\n'


def commit(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for words in (["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "more"]):
        subprocess.run(["git", *words], cwd=root, check=True)


def test_trust_shows_what_would_run_and_wants_a_person(repository, site, flyball):
    (repository / "flyball.toml").write_text(CONFIG)
    refused = flyball("trust")
    assert refused.code == 2
    assert "gate test runs: make test" in refused.err
    assert "flyball trust --yes" in refused.err
    assert not trust.is_trusted(site.home, config_file.read(repository))


@pytest.mark.parametrize(
    "words",
    [["trust"], ["init"], ["init", "--force"], ["init", "--constitution"], ["run", "y", "--gate", "test=true"]],
)
def test_a_pipe_in_place_of_the_settings_is_named_and_not_waited_for(repository, flyball, words):
    os.mkfifo(repository / "flyball.toml")
    refused = flyball(*words)
    assert refused.code == 2
    assert "flyball.toml, line 1: it is not a regular file" in refused.err
    assert len(refused.err.splitlines()) == 1


def test_trust_is_recorded_once_per_content(repository, site, flyball):
    (repository / "flyball.toml").write_text(CONFIG)
    assert json.loads(flyball("trust", "--yes", "--json").out)["new"] is True
    assert trust.is_trusted(site.home, config_file.read(repository))
    assert "already" in flyball("trust").out
    (repository / "flyball.toml").write_text(CONFIG.replace("make test", "make evil"))
    assert flyball("trust").code == 2


def test_a_folder_whose_name_is_no_utf_8_is_trusted_as_any_other(one_commit, tmp_path, monkeypatch, flyball):
    root = tmp_path / os.fsdecode(b"rows-\xff")
    shutil.copytree(one_commit, root)
    (root / "flyball.toml").write_text(CONFIG)
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(root)
    assert flyball("trust", "--yes", "--json").code == 0
    assert json.loads(flyball("trust", "--yes", "--json").out)["new"] is False


def test_init_says_when_its_file_cannot_be_written():
    with pytest.raises(Refusal, match="/dev/full could not be written \\(No space left on device\\)"):
        _write(Path("/dev/full"), "[gates]\n", force=True)


@pytest.mark.req("C46")
def test_init_does_not_write_over_a_file_that_appeared_while_it_tried_the_gates(tmp_path):
    path = tmp_path / "flyball.toml"
    path.write_text("# the user's\n")
    with pytest.raises(Refusal, match="File exists"):
        _write(path, "[gates]\n", force=False)
    assert path.read_text() == "# the user's\n"


def test_trust_without_a_configuration_names_init(repository, flyball):
    refused = flyball("trust")
    assert refused.code == 2
    assert "flyball init" in refused.err


def test_a_broken_configuration_is_named_with_file_and_line(repository, flyball):
    (repository / "flyball.toml").write_text("[gates]\ntest = 3\n")
    for command in (["trust", "--yes"], ["run", "x"]):
        refused = flyball(*command)
        assert refused.code == 2
        assert "flyball.toml, line 2" in refused.err
        assert "Traceback" not in refused.err


@pytest.mark.slow
def test_init_tries_the_gate_writes_the_file_and_records_trust(repository, site, flyball, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    commit(repository, tests__test_rows_py="def test_it():\n    assert True\n")
    made = flyball("init")
    assert made.code == 0
    assert "gate test: 1 passed, 0 failed" in made.out
    assert "is a pytest file" in made.out
    file = config_file.read(repository)
    assert file is not None
    assert file.top.workflow == "quick", "the workflow is written, so that another default changes nothing"
    assert "pytest" in file.gates["test"].command
    assert trust.is_trusted(site.home, file)
    assert list(site.home.folder.glob("trial-*")) == []


@pytest.mark.slow
def test_check_counts_the_files_as_they_are_and_its_exit_code_says_whether_all_pass(repository, flyball):
    commit(repository, calc_py="def add(a, b):\n    return a + b\n")
    test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == {}\n"
    (repository / "test_calc.py").write_text(test.format(3))
    before = subprocess.run(["git", "status", "--short"], cwd=repository, capture_output=True, check=True).stdout
    passed = flyball("check", "--gate", f"test={GATE}")
    assert (passed.code, passed.out.splitlines()[0]) == (0, "gate test: 1 passed, 0 failed, 0 skipped")
    (repository / "test_calc.py").write_text(test.format(4))
    failed = flyball("check", "--gate", f"test={GATE}")
    assert failed.code == 3
    assert "gate test: 0 passed, 1 failed, 0 skipped" in failed.out
    assert "failed: test_calc.py::test_add: assert 3 == 4" in failed.out
    assert "before the task" not in failed.out, "no task is there to speak of"
    told = json.loads(flyball("check", "--json", "--gate", f"test={GATE}").out)
    assert (told["passed"], told["failing"]) == (False, ["test_calc.py::test_add"])
    after = subprocess.run(["git", "status", "--short"], cwd=repository, capture_output=True, check=True).stdout
    assert before == after


@pytest.mark.slow
def test_where_python_has_no_pytest_init_names_the_command_that_installs_it(repository, flyball, monkeypatch):
    program = repository.parent / "bin" / "python3"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '/usr/bin/python3: No module named pytest' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    commit(repository, calc_py="", test_calc_py="def test_add():\n    assert 1 + 2 == 3\n")
    assert ".venv/bin/python -m pip install pytest && flyball init --force" in flyball("init").out


@pytest.mark.parametrize(
    ("words", "reason"), [([], "No gate is configured"), (["--gate", "test=no-such-program"], "gate test cannot run")]
)
def test_check_ends_with_2_where_no_gate_can_be_run(repository, flyball, words, reason):
    ended = flyball("check", *words)
    assert ended.code == 2
    assert reason in ended.out + ended.err


def test_check_runs_nothing_of_a_file_that_nobody_trusts(repository, flyball):
    (repository / "flyball.toml").write_text('[gates]\ntest = "touch ran"\n')
    refused = flyball("check")
    assert refused.code == 2
    assert "flyball trust" in refused.err


@pytest.mark.parametrize(("words", "is_listed"), [(["doctor"], False), (["list"], False), (["trust", "--yes"], True)])
def test_a_repository_is_on_the_page_once_it_is_set_up_and_not_for_a_look(repository, flyball, words, is_listed):
    (repository / "flyball.toml").write_text(CONFIG)
    flyball(*words)
    listed = Sites(home_folder()).all().values()
    assert (repository in [site.repository.root for site in listed]) is is_listed


@pytest.mark.slow
def test_init_says_what_setup_is_missing_when_the_gate_cannot_run(repository, flyball, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    commit(repository, tests__test_rows_py="import nowhere_to_be_found\n\n\ndef test_it():\n    pass\n")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    told = json.loads(flyball("init", "--json").out)
    assert "No module named 'nowhere_to_be_found'" in told["missing"][0]
    assert "setup" in told["missing"][0]


def test_init_writes_nothing_over_a_file_that_is_there_unless_forced(repository, flyball):
    (repository / "flyball.toml").write_text(CONFIG)
    refused = flyball("init", "--no-try")
    assert refused.code == 2
    assert "flyball init --force" in refused.err
    assert (repository / "flyball.toml").read_text() == CONFIG
    assert "is written" in flyball("init", "--no-try", "--force").out
    assert (repository / "flyball.toml").read_text() != CONFIG


def test_init_leaves_pyproject_alone_where_flyball_is_configured_there(repository, flyball):
    (repository / "pyproject.toml").write_text("[tool.flyball.gates]\ntest = 'make'\n")
    refused = flyball("init", "--no-try")
    assert refused.code == 2
    assert not (repository / "flyball.toml").exists()


def test_doctor_says_of_each_thing_whether_it_holds_and_how_to_mend_it(repository, site, flyball):
    (repository / "flyball.toml").write_text(CONFIG.replace("make test", "no-such-runner -q"))
    looked = flyball("doctor")
    assert looked.code == 2
    assert "ok    git" in looked.out
    assert "fail  gate test: no-such-runner is not installed" in looked.out
    assert "fail  agent mine: mine is not installed" in looked.out
    assert "fix: flyball trust" in looked.out
    levels = {check["name"]: check["level"] for check in json.loads(flyball("doctor", "--json").out)}
    assert levels["home"] == levels["disk"] == levels["clock"] == levels["journal"] == "ok"


def test_doctor_finds_a_task_whose_controller_was_killed(told, site, repository):
    told(Story().add(SessionStarted(1, "here", "0")))
    checks = {check.name: check for check in checkup(repository)}
    assert checks["task"].level == "warn"
    assert checks["task"].fix == "flyball resume 007-parse-rows"


def test_doctor_notices_a_journal_that_does_not_know_what_was_worked_on_here(repository, site):
    def journal() -> str:
        return next(check.level for check in checkup(repository) if check.name == "journal")

    for name, page in (("001-merged", "plan.md"), ("002-watched", "loop-state.md")):
        (repository / ".loop" / name).mkdir(parents=True)
        (repository / ".loop" / name / page).write_text("")
    assert journal() == "ok", "neither was worked on here"
    (repository / ".loop" / "003-lost").mkdir()
    (repository / ".loop" / "003-lost" / "loop-state.json").write_text("{}")
    assert journal() == "warn"
    found = next(check for check in checkup(repository) if check.name == "journal")
    assert "does not contain 003-lost" in found.says
    assert "FLYBALL_HOME" in found.fix


def test_doctor_without_git_sends_nobody_elsewhere(repository):
    looked = subprocess.run(
        [sys.executable, "-m", "flyball", "doctor"],
        env={**os.environ, "PATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert looked.returncode == 2
    assert "fix: install git" in looked.stdout
    assert "repository:" not in looked.stdout


def test_doctor_goes_on_after_something_foreign_in_the_loop_folder(repository, flyball):
    (repository / ".loop").mkdir()
    (repository / ".loop" / "mine.txt").write_text("notes\n")
    looked = flyball("doctor")
    assert looked.code == 2
    assert "fail  .loop: " in looked.out
    assert "mine.txt" in looked.out
    assert "fix: move what is not flyball's out of .loop/" in looked.out
    assert "configuration" in looked.out


def test_doctor_knows_locks_of_the_living_from_those_of_the_dead(site, repository):
    holder = this_process(OPENED_AT)
    with Lease.take(site.journal, site.home.locks, "task:001-a", holder):
        assert "none is left over" in next(c.says for c in checkup(repository) if c.name == "locks")
    dead = site.home.locks / "task-002-b.lock"
    dead.write_text(json.dumps({"pid": 4194303, "host": holder.host, "since": "2026-01-05T09:00:00Z"}))
    assert "process 4194303, gone" in next(c.says for c in checkup(repository) if c.name == "locks")


def test_doctor_looks_at_what_it_can_outside_a_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "home"))
    checks = list(checkup(tmp_path))
    assert checks[-1].name == "repository"
    assert checks[-1].level == "fail"
    assert {"git", "sandbox", "clock", "home", "disk"} <= {check.name for check in checks}


def test_doctor_sends_nobody_to_make_a_damaged_repository_anew(repository):
    objects = repository / ".git" / "objects"
    objects.rename(repository / "lost")
    for _ in ("no folder of objects", "an empty one"):
        check = next(check for check in checkup(repository) if check.name == "repository")
        assert (check.level, check.fix) == ("fail", "git fsck")
        assert "damaged" in check.says
        objects.mkdir(exist_ok=True)


def test_doctor_says_when_home_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLYBALL_HOME", str(tmp_path / "file" / "home"))
    checks = {check.name: check for check in checkup(tmp_path)}
    assert checks["home"].level == "fail"
    assert "FLYBALL_HOME" in checks["home"].fix


def an_agent(folder: Path, name: str, says: str = "1.2.3 (It)") -> None:
    program = folder / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)


def test_agents_says_what_is_installed_in_which_version_and_whether_it_is_logged_in(tmp_path, flyball, monkeypatch):
    an_agent(tmp_path / "bin", "claude")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    out = flyball("agents").out
    assert "claude    1.2.3 (It), not logged in; log in with: claude /login" in out
    assert "codex     not installed; get it with: npm" in out
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")
    listed = {agent["name"]: agent for agent in json.loads(flyball("agents", "--json").out)}
    assert (listed["claude"]["logged_in"], listed["claude"]["version"]) == (True, "1.2.3 (It)")
    assert listed["codex"]["path"] == ""


def test_an_agent_that_cannot_say_its_version_is_listed_all_the_same(tmp_path, flyball, monkeypatch):
    an_agent(tmp_path / "bin", "claude")
    (tmp_path / "bin" / "claude").write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert "unknown: it ended with 3" in flyball("agents").out


def test_doctor_says_how_to_get_and_log_in_to_the_agent_that_is_named(repository, tmp_path, flyball, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (repository / "flyball.toml").write_text('agent = "claude"\n[gates]\ntest = "true"\n')
    missing = flyball("doctor").out
    assert "fail  agent claude: claude is not installed" in missing
    assert "npm install --global @anthropic-ai/claude-code" in missing
    an_agent(tmp_path / "bin", "claude")
    assert "fail  agent claude: not logged in" in flyball("doctor").out
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")
    assert "ok    agent claude: installed and logged in" in flyball("doctor").out


def test_init_names_an_agent_it_found_and_the_next_command(repository, tmp_path, flyball, monkeypatch):
    an_agent(tmp_path / "bin", "claude")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")
    commit(repository, tests__test_rows_py="def test_it():\n    assert True\n")
    made = flyball("init", "--no-try")
    assert 'flyball run "what is to be done"    (with claude: installed here, logged in)' in made.out
    file = config_file.read(repository)
    assert file is not None
    assert file.top.agent == "claude"


NO_LOGIN = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN")


@pytest.mark.req("C9")
def test_doctor_fails_where_there_is_neither_a_gate_nor_an_agent(repository, flyball, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    looked = flyball("doctor")
    assert looked.code == 2
    assert "fail  gate: none is configured, so nothing could be measured\n      fix: flyball init\n" in looked.out
    assert "fail  agent: none is configured, and none that flyball knows is installed and logged in" in looked.out
    assert "fix: flyball agents" in looked.out


@pytest.mark.req("C9")
def test_doctor_names_the_agent_that_could_work_and_exits_6_when_only_that_is_missing(
    repository, tmp_path, flyball, monkeypatch
):
    an_agent(tmp_path / "bin", "claude")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "dummy")
    (repository / "flyball.toml").write_text('[gates]\ntest = "true"\n')
    looked = flyball("doctor")
    assert looked.code == 6, looked.out
    assert 'flyball run "…" --agent claude' in looked.out
    (repository / "flyball.toml").write_text('agent = "claude"\n[gates]\ntest = "true"\n')
    assert flyball("doctor").code == 0


@pytest.mark.req("C9")
def test_init_says_what_is_missing_and_what_to_do_in_its_order(repository, tmp_path, flyball, monkeypatch):
    an_agent(tmp_path / "bin", "claude")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for name in NO_LOGIN:
        monkeypatch.delenv(name, raising=False)
    made = flyball("init", "--no-try")
    assert made.code == 2
    assert "missing: no way to run tests was found" in made.out
    assert "missing: claude is not logged in" in made.out
    steps = made.out.partition("next:\n")[2].splitlines()
    assert [step.split()[:2] for step in steps] == [["name", "the"], ["log", "in"], ["flyball", "doctor"]]
    assert "flyball run" not in made.out.partition("next:\n")[2]
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    made = flyball("init", "--no-try", "--force", "--json")
    assert "no agent that flyball knows is installed" in json.loads(made.out)["missing"]


@pytest.mark.slow
@pytest.mark.req("C7")
def test_init_tries_the_linter_and_switches_off_one_that_cannot_run(repository, flyball, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setattr("flyball.config.stacks._ruff", lambda _program, _installed: "no-such-linter .")
    commit(repository, tests__test_rows_py="def test_it():\n    assert True\n", **{"ruff.toml": ""})
    answer = flyball("init")
    assert answer.code == 0
    assert "lint cannot be run, so its check is off: no-such-linter .: " in answer.out
    assert 'lint_clean = "off"' in (repository / "flyball.toml").read_text()
    assert "lint runs" not in answer.out


@pytest.mark.slow
@pytest.mark.req("C7")
def test_init_says_which_modules_the_tests_lack(repository, flyball, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    commit(
        repository,
        tests__test_rows_py="def test_it():\n    import nowhere.to_be_found\n\n\ndef test_that():\n    assert True\n",
    )
    answer = flyball("init")
    assert (
        "note: 1 test fails on the untouched tree because modules are not installed: nowhere; have `setup` install"
        in answer.out
    )
