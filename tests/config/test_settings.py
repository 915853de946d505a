import msgspec
import pytest

from flyball.config.errors import ConfigError, ConfigInvalid, FlagInvalid
from flyball.config.file import parse
from flyball.config.settings import Configured, RunFlags, build, with_limits, without_sandbox
from flyball.core.health.breaker import Strikes
from flyball.core.health.verdict import Thresholds
from flyball.core.model.task import AgentChoice, Gate, Limits, Settings
from flyball.core.workflows.registry import own_strikes

TYPED = RunFlags(agent_command="prog --fast 'two words'", gates=("test=pytest -q",))
NO_SANDBOX = "bubblewrap is not installed"
GATE = '[gates]\ntest = "pytest"\n'
AGENT = '[agents.main]\ncommand = ["prog"]\n'
TWO = '[agents.main]\ncommand = ["a"]\nmodel = "large"\n[agents.second]\ncommand = ["b"]\nmodel = "small"\n'


def built(text: str = "", flags: RunFlags | None = None, *, terminal: bool = False) -> Configured:
    return build(parse(text) if text else None, flags or RunFlags(), terminal=terminal)


def test_flags_alone_are_enough() -> None:
    found = built(flags=TYPED)
    assert found.workflow == "quick"
    assert found.settings.gates == (Gate("test", "pytest -q"),)
    assert found.agents[0].command == ("prog", "--fast", "two words")
    assert found.settings.choice("implementer") == AgentChoice("command")
    assert found.settings.limits == Limits()


def test_what_nobody_said_is_the_default() -> None:
    settings = built(GATE + AGENT).settings
    assert msgspec.structs.replace(settings, gates=(), roles={}) == Settings()


@pytest.mark.req("C10", "C20", "C23", "C42", "C50")
def test_every_setting_of_the_file_arrives() -> None:
    settings = built(
        'setup = "make deps"\nlint = "ruff"\nsandbox = "none"\nparallel = 4\nattended = true\n'
        "network = false\napprove_plan = true\nsetup_timeout = 5\ndocuments = 1\n"
        + AGENT
        + '[gates]\ntest = "t"\ncarry = [".env"]\n'
        'protected = ["gold/*"]\nenvironment = [".tox"]\nslow = { command = "s", timeout = "2h" }\n'
        "[limits]\ncalls_per_hour = 7\nidle_timeout = 0\nturn_timeout = '2m'\ncrash_limit = 2\nusage_limit_wait = '5m'\n"
        "[breaker]\ncooldown = '10m'\n[breaker.GREEN]\nno_progress = 9\n[breaker.other]\nsame_error = 2\n"
        "[monitor]\npatience = 9\n[qa]\nchangelog = 'off'\n[code]\ncomplexity = 5\n[ship]\npush = true\n"
    ).settings
    assert settings.gates == (Gate("test", "t"), Gate("slow", "s", 7200.0))
    assert (settings.carry, settings.protected, settings.environment_folders) == ((".env",), ("gold/*",), (".tox",))
    assert settings.limits == Limits(
        calls_per_hour=7, idle_timeout_s=None, turn_timeout_s=120.0, crash_limit=2, usage_limit_wait_s=300.0
    )
    assert settings.breaker.cooldown_s == 600.0
    assert settings.breaker.strikes("GREEN", own_strikes("GREEN")) == Strikes(9, 3)
    assert settings.breaker.strikes("RED", own_strikes("RED")) == Strikes(3, 5)
    assert settings.breaker.strikes("EXECUTE", own_strikes("EXECUTE")) == Strikes(3, 2)
    assert settings.monitor == Thresholds(patience=9)
    assert (settings.qa.changelog, settings.qa.readme, settings.code.complexity) == ("off", "on", 5)
    assert (settings.sandbox, settings.network, settings.parallel, settings.push) == ("none", False, 4, True)
    assert (settings.attended, settings.approve_plan, settings.documents) == (True, True, 1)
    assert (settings.setup, settings.setup_timeout_s, settings.lint) == ("make deps", 5.0, "ruff")


def test_what_was_typed_wins_over_the_file() -> None:
    text = 'setup = "a"\nattended = false\nsandbox = "none"\nparallel = 1\n' + TWO.replace("[", "x[", 0)
    text = (
        'agent = "main"\n'
        + text
        + '[gates]\ntest = { command = "a", timeout = 9 }\nother = "o"\n[limits]\nmax_turns = 1\n'
    )
    flags = RunFlags(
        agent="second", setup="b", attended=True, sandbox="auto", parallel=5, merge=False, max_turns=2,
        gates=('test=pytest -k "a=b"',), turn_timeout="3m", idle_timeout=4, model="huge", budget_usd=1.5,
    )  # fmt: skip
    found = built(text, flags)
    settings = found.settings
    assert settings.choice("implementer") == AgentChoice("second", "huge")
    assert settings.gates == (Gate("test", 'pytest -k "a=b"', 9.0), Gate("other", "o"))
    assert (settings.setup, settings.attended, settings.sandbox, settings.parallel) == ("b", True, "bwrap", 5)
    assert (settings.limits.max_turns, settings.limits.turn_timeout_s, settings.limits.idle_timeout_s) == (
        2,
        180.0,
        4.0,
    )
    assert (settings.merge, settings.limits.budget_usd) == (False, 1.5)


@pytest.mark.req("C64")
def test_resume_takes_the_limit_options_of_run() -> None:
    assert with_limits(Limits(max_turns=3, max_hours=1.0), RunFlags(max_turns=9)) == Limits(max_turns=9, max_hours=1.0)


def test_attended_is_the_default_on_a_terminal_only() -> None:
    assert built(flags=TYPED, terminal=True).settings.attended
    assert not built(flags=TYPED, terminal=False).settings.attended


@pytest.mark.req("C2")
def test_reviewers_get_another_model_than_the_implementer_and_it_is_said() -> None:
    found = built('agent = "main"\n' + TWO + GATE)
    assert found.settings.choice("implementer") == AgentChoice("main", "large")
    assert found.settings.choice("reviewer") == AgentChoice("second", "small")
    assert found.notes == ("reviewer uses second (small), another model than the implementer's main (large)",)


@pytest.mark.req("C2")
def test_a_second_agent_with_the_same_model_is_no_other_model() -> None:
    found = built('agent = "main"\n' + TWO.replace("small", "large") + GATE)
    assert found.settings.choice("reviewer").agent == "main"
    assert found.notes == (
        "reviewer uses the same model as the implementer: the author reviews its own work, since no other model is configured",
    )


@pytest.mark.req("C2")
def test_a_model_named_for_another_role_serves_for_reviews() -> None:
    found = built(AGENT + '[roles.implementer]\nmodel = "large"\n' + GATE)
    assert found.settings.choice("implementer") == AgentChoice("main", "large", fixed=True)
    assert found.settings.choice("reviewer") == AgentChoice("main", "")
    assert found.notes == (
        "reviewer uses main; whether that is another model than the implementer's main (large) is not known",
    )


@pytest.mark.req("C2")
def test_a_reviewer_set_by_the_user_is_kept_even_with_the_same_model() -> None:
    found = built('agent = "main"\n' + TWO + '[roles.reviewer]\nagent = "main"\n' + GATE)
    assert found.settings.choice("reviewer") == AgentChoice("main", "large", fixed=True)
    assert found.notes == (
        "reviewer uses the same model as the implementer, as configured: the author reviews its own work",
    )


@pytest.mark.req("C2")
def test_what_is_true_of_several_reviewers_is_said_once() -> None:
    found = built('agent = "main"\nworkflow = "backlog"\n' + TWO + '[roles.spec-auditor]\nagent = "main"\n' + GATE)
    others, own = found.notes
    assert others.startswith(
        "code-reviewer, security-auditor and performance-reviewer use second (small), another model"
    )
    assert own.startswith("spec-auditor uses the same model as the implementer, as configured")


@pytest.mark.req("C2")
def test_one_agent_of_several_models_reviews_with_the_other_one() -> None:
    opus = built(GATE, RunFlags(agent="claude", model="opus"))
    assert opus.settings.choice("reviewer") == AgentChoice("claude", "sonnet")
    assert opus.notes[0] == "reviewer uses claude (sonnet), another model than the implementer's claude (opus)"
    sonnet = built('agent = "claude"\nmodel = "claude-sonnet-4-5"\n' + GATE)
    assert sonnet.settings.choice("reviewer") == AgentChoice("claude", "opus")
    own = built('[agents.main]\ncommand = ["a", "{model}"]\nmodel = "x"\nmodels = ["x", "y"]\n' + GATE)
    assert own.settings.choice("reviewer") == AgentChoice("main", "y")
    by_itself = built(GATE, RunFlags(agent="claude"))
    assert by_itself.settings.choice("reviewer") == AgentChoice("claude")
    assert by_itself.notes == ("reviewer uses another model of claude than the one that implemented: opus or sonnet",)


@pytest.mark.req("C2")
def test_two_names_of_one_program_are_not_two_models() -> None:
    two = '[agents.a]\ntype = "qwen"\n[agents.b]\ntype = "qwen"\n'
    found = built('agent = "a"\n' + two + GATE)
    assert "the author reviews its own work" in found.notes[0]


@pytest.mark.req("C2")
def test_a_typed_model_is_for_all_roles_or_it_is_said_for_whom_not_and_why() -> None:
    roles = '[roles.planner]\nmodel = "haiku"\n'
    found = built('agent = "claude"\n' + GATE + roles, RunFlags(model="opus", workflow="tdd"))
    choices = {role: found.settings.choice(role).model for role in ("planner", "tester", "implementer", "qa")}
    assert choices == {"planner": "haiku", "tester": "opus", "implementer": "opus", "qa": "sonnet"}
    assert found.notes[1:] == (
        "--model opus is not for planner (claude (haiku)), as flyball.toml sets",
        "--model opus is not for qa: another model reviews; to change that, set model below [roles.qa]",
    )
    untold = built(flags=RunFlags(agent_command="prog", model="m", gates=("test=t",)))
    assert "has no {model} in it" in untold.notes[1]
    silent = built('agent = "claude"\n' + GATE + '[roles.reviewer]\nmodel = "opus"\n', RunFlags(model="opus"))
    assert len(silent.notes) == 1


@pytest.mark.req("C12")
def test_fallback_agents_come_with_the_agent_or_the_role() -> None:
    text = 'agent = "main"\n' + TWO.replace('model = "large"\n', 'model = "large"\nfallback = ["second"]\n') + GATE
    assert built(text).settings.choice("tester").fallback == ("second",)
    own = built(text + '[roles.tester]\nmodel = "tiny"\nfallback = []\n').settings.choice("tester")
    assert own == AgentChoice("main", "tiny", fixed=True)


def test_a_typed_agent_command_plays_every_role_and_no_agent_of_the_file_runs() -> None:
    found = built('agent = "main"\n' + TWO + '[roles.qa]\nagent = "second"\n' + GATE, RunFlags(agent_command="prog"))
    assert [spec.name for spec in found.agents] == ["command"]
    assert {choice.agent for choice in found.settings.roles.values()} == {"command"}


@pytest.mark.req("C40")
def test_exit_0_as_signal_reaches_the_agent() -> None:
    found = built('[agents.a]\ncommand = ["x"]\nexit_signal = "exit-0"\nenv = ["KEY"]\n' + GATE)
    assert (found.agents[0].exit_signal, found.agents[0].env) == ("exit-0", ("KEY",))


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        (AGENT, 1, "gates", "No gate is configured, so nothing could be measured"),
        (AGENT + "[gates]\ncarry = []\n", 3, "gates", "type flyball trust; or pass --gate test="),
        ('workflow = "tddd"\n' + AGENT + GATE, 1, "workflow", "there is no workflow tddd (did you mean tdd?); expected one of: quick, tdd"),
        (GATE + 'x = "y"\n[roles.qa]\nagent = "main"\n', 5, "roles.qa.agent", "there is no agent main; expected one of: claude, codex"),
        (AGENT + GATE + '[roles.qa]\nagent = "mian"\n', 6, "roles.qa.agent", "there is no agent mian (did you mean main?); expected one of: main"),
        (AGENT + GATE + '[roles.implementor]\nagent = "main"\n', 5, "roles.implementor", "there is no such role (did you mean implementer?)"),
        (AGENT + GATE + '[roles.qa]\nfallback = ["main", "x"]\n', 6, "roles.qa.fallback[1]", "there is no agent x"),
        ('agent = "other"\n' + AGENT + GATE, 1, "agent", "there is no agent other; expected one of: main"),
        ('[agents.main]\ncommand = ["a"]\nfallback = ["main"]\n' + GATE, 3, "agents.main.fallback[0]", "main cannot stand in for itself"),
        (TWO + GATE, 1, "agents", 'which agent works? Expected a key agent = "NAME", one of: main, second'),
        ('[agents.main]\ncommand = [" "]\n' + GATE, 2, "agents.main.command[0]", "expected the name of a program"),
        ('[agents.main]\nmodel = "x"\n' + GATE, 1, "agents.main", "expected a key command"),
        ('[agents.main]\ntype = "scripted"\n' + GATE, 1, "agents.main", "expected a key script"),
        ('[agents.main]\ncommand = ["a"]\nscript = "x"\n' + GATE, 3, "agents.main.script", "expected none"),
        ('[agents.main]\ntype = "scripted"\nscript = "x"\ncommand = ["a"]\n' + GATE, 4, "agents.main.command", "expected none"),
        (AGENT + GATE + "[breaker.GREN]\nno_progress = 3\n", 5, "breaker.GREN", "there is no such stage (did you mean GREEN?)"),
    ],
)  # fmt: skip
def test_what_only_several_keys_together_can_tell_is_said_with_line_and_key(
    text: str, line: int, key: str, problem: str
) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        built(text)
    assert (refused.value.line, refused.value.key) == (line, key)
    assert problem in refused.value.problem


@pytest.mark.parametrize(
    ("flags", "flag", "problem"),
    [
        ({"gates": ("pytest",)}, "--gate", 'expected NAME="COMMAND", such as test="pytest -q", but it is "pytest"'),
        ({"gates": ("test= ",)}, "--gate", "expected NAME="),
        ({"gates": ("carry=x",)}, "--gate", "since gates.carry is a setting"),
        ({"agent_command": " "}, "--agent-command", "expected a program and its arguments"),
        ({"agent_command": "a 'b"}, "--agent-command", "has a quotation mark that is not closed"),
        ({"agent_command": "a \\"}, "--agent-command", "ends with a backslash"),
        ({"agent_command": None, "agent": "x"}, "--agent", "there is no agent x"),
        ({"workflow": "walk"}, "--workflow", "there is no workflow walk; expected one of: quick, tdd"),
        ({"max_turns": 0}, "--max-turns", "expected a whole number from 1, but it is 0"),
        ({"budget_usd": -1.0}, "--budget-usd", "expected a finite number greater than 0"),
        ({"budget_usd": float("inf")}, "--budget-usd", "(leave it out for no limit), but it is inf"),
        ({"max_hours": float("nan")}, "--max-hours", "but it is nan"),
        ({"turn_timeout": "soon"}, "--turn-timeout", "expected a duration greater than 0: seconds as a number"),
        ({"sandbox": "docker"}, "--sandbox", 'expected "auto", "bwrap" or "none", but it is "docker"'),
        ({"parallel": 0}, "--parallel", "expected a whole number from 1"),
        ({"setup": ""}, "--setup", "expected a command line"),
    ],
)  # fmt: skip
def test_a_typed_option_that_is_wrong_is_named(flags: dict[str, object], flag: str, problem: str) -> None:
    with pytest.raises(FlagInvalid) as refused:
        built(flags=msgspec.structs.replace(TYPED, **flags))
    assert refused.value.flag == flag
    assert problem in refused.value.problem


def test_without_any_agent_or_gate_the_next_command_is_named() -> None:
    with pytest.raises(ConfigError, match=r"No agent is configured.*flyball run --agent NAME, one of: claude"):
        built(flags=RunFlags(gates=("test=x",)))
    with pytest.raises(ConfigError, match=r"No gate is configured.*flyball init.*--gate"):
        built(flags=RunFlags(agent_command="x"))


def test_without_a_sandbox_an_unattended_run_is_refused_unless_none_was_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"bubblewrap is not installed\..*--sandbox none"):
        without_sandbox(built(flags=TYPED), NO_SANDBOX)
    found = without_sandbox(built(flags=msgspec.structs.replace(TYPED, sandbox="none")), NO_SANDBOX)
    assert found.settings.sandbox == "none"
    assert "the agent has your permissions" in found.notes[-1]


def test_without_a_sandbox_an_attended_run_goes_on_and_says_so_unless_one_was_asked_for() -> None:
    found = without_sandbox(built(flags=TYPED, terminal=True), NO_SANDBOX)
    assert found.settings.sandbox == "none"
    assert found.notes[-1].startswith("Sandbox off: bubblewrap is not installed")
    with pytest.raises(ConfigError, match="The sandbox cannot be used"):
        without_sandbox(built(flags=msgspec.structs.replace(TYPED, sandbox="bwrap"), terminal=True), NO_SANDBOX)


@pytest.mark.req("C2")
def test_an_agent_flyball_knows_needs_no_table() -> None:
    found = built(GATE, RunFlags(agent="claude", model="opus"))
    assert [(a.name, a.type, a.command) for a in found.agents] == [("claude", "claude", ())]
    assert found.settings.roles["default"] == AgentChoice("claude", "opus")
    named = built('agent = "codex"\n' + GATE)
    assert [a.type for a in named.agents] == ["codex"]


@pytest.mark.req("C2", "C12")
def test_roles_and_fallbacks_may_name_agents_flyball_knows() -> None:
    found = built(AGENT + 'fallback = ["goose"]\n' + GATE + '[roles.qa]\nagent = "codex"\nfallback = ["gemini"]\n')
    assert [(a.name, a.type) for a in found.agents] == [
        ("main", "command"),
        *(("codex", "codex"), ("gemini", "gemini"), ("goose", "goose")),
    ]
    assert found.settings.roles["qa"] == AgentChoice("codex", "", ("gemini",), fixed=True)


def test_a_table_sets_up_an_agent_flyball_knows_under_its_own_name_or_another() -> None:
    keys = 'model = "opus"\nargs = ["--effort", "high"]\nmax_turns = 9\nbudget_usd = 1.5\n'
    own = built("[agents.claude]\n" + keys + GATE).agents[0]
    assert (own.name, own.type, own.args, own.max_turns, own.budget_usd) == (
        *("claude", "claude"),
        *(("--effort", "high"), 9, 1.5),
    )
    other = built('[agents.mine]\ntype = "claude"\ncommand = ["/opt/claude"]\n' + GATE).agents[0]
    assert (other.name, other.type, other.command) == ("mine", "claude", ("/opt/claude",))
    plain = built('[agents.claude]\ncommand = ["wrapper"]\n' + GATE).agents[0]
    assert plain.type == "command"


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ('[agents.claude]\nscript = "x"\n', "agents.claude.script", "expected none"),
        ('[agents.claude]\nexit_signal = "exit-0"\n', "agents.claude.exit_signal", "this agent can report"),
        ('[agents.x]\ntype = "codex"\ncommand = [" "]\n', "agents.x.command[0]", "expected the name of a program"),
        ('[agents.x]\ncommand = ["x"]\nargs = ["y"]\n', "agents.x.args", "unless type is a known agent: claude"),
        ('[agents.x]\ncommand = ["x"]\nmax_turns = 1\n', "agents.x.max_turns", "unless type is a known agent"),
    ],
)
def test_what_an_agents_kind_does_not_have_is_refused(text: str, key: str, problem: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        built(text + GATE)
    assert refused.value.key == key
    assert problem in refused.value.problem
