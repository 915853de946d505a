import os
from pathlib import Path

import msgspec
import pytest

from flyball.config import schema
from flyball.config.errors import ConfigInvalid
from flyball.config.file import expectation, parse, read

WHOLE = """\
workflow = "tdd"
agent = "main"
sandbox = "auto"
setup = "pip install -e ."
setup_timeout = "10m"
lint = "ruff check ."
parallel = 3
attended = false

[agents.main]
command = ["prog", "-x", ""]
model = "large"
env = ["API_KEY"]
exit_signal = "exit-0"
fallback = ["second"]

[agents.second]
type = "scripted"
script = "demo.toml"

[roles.qa]
agent = "second"

[gates]
test = "pytest --junit-xml={junit}"
carry = [".env.test"]
protected = ["golden/*"]
environment = [".venv"]

[gates.types]
command = "mypy"
timeout = "5m"

[limits]
calls_per_hour = 10
max_hours = 2
turn_timeout = 90
idle_timeout = "1.5m"

[breaker]
cooldown = "1h"

[breaker.RED]
no_progress = 4

[monitor]
patience = 30

[qa]
changelog = "off"

[code]
complexity = 8

[ship]
push = true
"""


def test_every_section_is_read() -> None:
    config = parse(WHOLE)
    assert config.top.setup_timeout == 600.0
    assert config.agents["main"].command == ("prog", "-x", "")
    assert config.agents["second"].script == "demo.toml"
    assert config.roles["qa"].agent == "second"
    assert list(config.gates) == ["test", "types"]
    assert config.gates["types"].timeout == 300.0
    assert config.gate_options.carry == (".env.test",)
    assert (config.limits.turn_timeout, config.limits.idle_timeout, config.limits.max_hours) == (90.0, 90.0, 2.0)
    assert (config.cooldown, config.breaker["RED"].no_progress, config.breaker["RED"].same_error) == (3600.0, 4, None)
    assert (config.monitor, config.qa, config.code) == ({"patience": 30}, {"changelog": "off"}, {"complexity": 8})
    assert config.ship.push


@pytest.mark.parametrize(
    ("text", "line", "key", "expected"),
    [
        ('x = 1\nworkflw = "tdd"', 1, "x", "there is no such key; expected one of: workflow, agent,"),
        ('\nworkflw = "tdd"', 2, "workflw", "did you mean workflow?"),
        ("[limit]\na = 1", 1, "limit", "did you mean limits?"),
        ("max_turns = 3", 1, "max_turns", "it belongs in [limits]"),
        ('[limits]\nlint = "x"', 2, "limits.lint", "it belongs above all tables"),
        ('[limits]\nmax_turns = "many"', 2, "limits.max_turns", 'expected a whole number from 1, but it is "many"'),
        ("limits.max_turns = 0", 1, "limits.max_turns", "expected a whole number from 1, but it is 0"),
        ("limits = { max_turns = true }", 1, "limits.max_turns", "expected a whole number from 1, but it is true"),
        ("[limits]\nbudget_usd = 0", 2, "limits.budget_usd", "expected a finite number greater than 0"),
        ("[limits]\nmax_hours = inf", 2, "limits.max_hours", "(leave it out for no limit), but it is inf"),
        ('[limits]\nidle_timeout = "5 parsecs"', 2, "limits.idle_timeout", 'such as "30s", "45m" or "1h", but it is "5 p'),
        ("[limits]\nidle_timeout = -1", 2, "limits.idle_timeout", "but it is -1"),
        ("[limits]\nturn_timeout = 0", 2, "limits.turn_timeout", "expected a duration greater than 0"),
        (f"[limits]\nturn_timeout = '{'9' * 400}d'", 2, "limits.turn_timeout", "expected a duration"),
        ("[limits]\nturn_timeout = inf", 2, "limits.turn_timeout", "expected a duration"),
        ("limits = 3", 1, "limits", "expected a table, [limits], but it is 3"),
        ("[[limits]]\nmax_turns = 3", 1, "limits", "expected a table, [limits], but it is a list"),
        ('[gates]\ncarry = [\n  "a",\n  3,\n]', 2, "gates.carry[1]", "expected a list of paths inside the repository"),
        ('[gates]\ncarry = ["../secret"]', 2, "gates.carry[0]", 'but it is "../secret"'),
        ('[gates]\nenvironment = ["/usr"]', 2, "gates.environment[0]", 'but it is "/usr"'),
        ('[gates]\ncary = ["a"]', 2, "gates.cary", "expected a command line in quotation marks, or a table, but it is a list (did you mean carry?)"),
        ('[gates]\ntest = " "', 2, "gates.test", "expected a command line that is not empty"),
        ('[gates]\n"a b" = "x"', 2, 'gates."a b"', "expected a name of letters, digits, - and _"),
        ("[gates.test]\ntimeout = 3", 1, "gates.test", "expected a key command: a command line"),
        ('[gates.test]\ncommand = "x"\ntimout = 3', 3, "gates.test.timout", "did you mean timeout?"),
        ("[agents.a]\ncommand = []", 2, "agents.a.command", 'the program first: ["program", "argument"], but it is an empty list'),
        ('[agents.a]\ncommand = "prog"', 2, "agents.a.command", 'but it is "prog"'),
        ('[agents.a]\nexit_signal = "exit"', 2, "agents.a.exit_signal", 'expected "report" or "exit-0", but it is "exit"'),
        ("[agents]\na = 1", 2, "agents.a", "expected a table, [agents.a], but it is 1"),
        ("[breaker.RED]\nno_progess = 3", 2, "breaker.RED.no_progess", "did you mean no_progress?"),
        ("[breaker]\nRED = 3", 2, "breaker.RED", "expected a table, but it is 3"),
        ('[qa]\nchangelog = "no"', 2, "qa.changelog", 'expected "on" or "off", but it is "no"'),
        ('[qa]\nchangelg = "off"', 2, "qa.changelg", "did you mean changelog?"),
        ("[monitor]\nfalls = 0", 2, "monitor.falls", "expected a whole number from 1"),
        ("[ship]\npush = 1", 2, "ship.push", "expected true or false, but it is 1"),
        ('sandbox = "docker"', 1, "sandbox", 'expected "auto", "bwrap" or "none", but it is "docker"'),
        ("setup = 1979-05-27", 1, "setup", "but it is 1979-05-27"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_line_key_and_what_was_expected(
    text: str, line: int, key: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "flyball.toml"
    path.write_text(text)
    with pytest.raises(ConfigInvalid) as refused:
        read(tmp_path)
    error = refused.value
    assert (error.file, error.line, error.key) == (path, line, key)
    assert expected in error.problem
    assert str(error) == f"{path}, line {line}: {key}: {error.problem}"


@pytest.mark.parametrize(
    ("text", "line"),
    [('a = "1"\nb = [1,\nc = 2\n', 3), ("a = 1\na = 2\n", 2), ("a = 1\n\nb = [1\n", 3), ('a = """x\n', 1)],
)
def test_broken_toml_is_said_with_its_line(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "flyball.toml").write_text(text)
    with pytest.raises(ConfigInvalid, match="this is not valid TOML") as refused:
        read(tmp_path)
    assert refused.value.line == line


def test_bytes_that_are_no_text_are_said_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "flyball.toml").write_bytes(b"\xef\xbb\xbf# x\nlint = '\xff'\n")
    with pytest.raises(ConfigInvalid, match=r"line 2: byte 0xff is not UTF-8"):
        read(tmp_path)


def test_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "flyball.toml").write_bytes(b'\xef\xbb\xbf# x\r\nlint = "x"\r\n')
    config = read(tmp_path)
    assert config is not None
    assert config.top.lint == "x"


def test_a_repository_without_settings_has_none(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "flyball-user"\n')
    assert read(tmp_path) is None
    (tmp_path / "pyproject.toml").write_bytes(b"not \xff toml")
    assert read(tmp_path) is None


def test_settings_may_stand_in_pyproject_and_errors_name_the_line_there(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[project]\nname = "x"\n\n[tool.flyball.gates]\ntest = "pytest"\n')
    config = read(tmp_path)
    assert config is not None
    assert config.gates["test"].command == "pytest"
    path.write_text('[project]\nname = "x"\n\n[tool.flyball]\nlimits.max_turns = 0\n')
    with pytest.raises(ConfigInvalid, match=r"pyproject.toml, line 5: tool.flyball.limits.max_turns: expected"):
        read(tmp_path)
    path.write_text("[tool]\nflyball = 3\n")
    with pytest.raises(ConfigInvalid, match=r"line 2: tool.flyball: expected a table, but it is 3"):
        read(tmp_path)


def test_settings_in_both_files_are_an_error_that_names_both(tmp_path: Path) -> None:
    (tmp_path / "flyball.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text('# x\n[tool.flyball]\nlint = "x"\n')
    with pytest.raises(
        ConfigInvalid, match=r"pyproject.toml, line 2: tool.flyball: .*flyball.toml configures flyball too"
    ):
        read(tmp_path)


def test_settings_that_are_no_regular_file_are_refused_without_waiting_for_them(tmp_path: Path) -> None:
    path = tmp_path / "flyball.toml"
    os.mkfifo(path)
    with pytest.raises(ConfigInvalid, match=r"flyball.toml, line 1: it is not a regular file; expected settings"):
        read(tmp_path)
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(ConfigInvalid, match="it is not a regular file"):
        read(tmp_path)


@pytest.mark.parametrize("text", ["a=" + "[" * 100_000, "a=" + "{b=" * 100_000])
def test_settings_nested_without_end_are_refused(text: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"flyball.toml, line 1: lists or tables are nested too deeply"):
        parse(text)


@pytest.mark.parametrize(
    "text", ["\na=" + "[" * 100 + "]" * 100, "\n[" + "a." * 1000 + "a]\n", "\n" + "a." * 1000 + "a = 1\n"]
)
def test_deep_settings_are_unknown_by_their_first_key(text: str) -> None:
    with pytest.raises(ConfigInvalid, match=r"flyball.toml, line 2: a: there is no such key"):
        parse(text)


def test_what_is_deep_in_other_tables_of_a_shared_file_is_not_ours(tmp_path: Path) -> None:
    deep = "[" * 150 + "]" * 150
    (tmp_path / "pyproject.toml").write_text(f"[tool.other]\nx = {deep}\n[tool.flyball]\nlint = 1\n")
    with pytest.raises(ConfigInvalid, match=r"line 4: tool\.flyball\.lint: expected a command line"):
        read(tmp_path)


def test_a_settings_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "flyball.toml").mkdir()
    with pytest.raises(ConfigInvalid, match="it is not a regular file; expected settings in TOML"):
        read(tmp_path)
    (tmp_path / "flyball.toml").rmdir()
    (tmp_path / "flyball.toml").symlink_to("nowhere")
    with pytest.raises(ConfigInvalid, match=r"it cannot be read \(No such file"):
        read(tmp_path)


@pytest.mark.parametrize("key", ["unnoticed", "failing"])
def test_a_gate_option_with_another_word_names_the_words_it_takes(key: str) -> None:
    with pytest.raises(ConfigInvalid, match=r'expected .* or "'):
        parse(f'[gates]\n{key} = "maybe"')


def test_every_key_can_say_what_it_expects() -> None:
    kinds: list[type[msgspec.Struct]] = [schema.TopLevel, schema.UserSettings]
    kinds += [
        *schema.SECTIONS.values(),
        *schema.NAMED.values(),
        *(kind for pair in schema.MIXED.values() for kind in pair),
    ]
    for kind in kinds:
        assert all(expectation(kind, key) for key in kind.__struct_fields__)
