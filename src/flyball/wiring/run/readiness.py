"""Whether a task could run here, looked at before anything of it exists: its agents, and the programs its commands start.

No program is started for it and no token is spent.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from flyball.agents.dialects.table import DIALECTS
from flyball.agents.reading.prices import has_price, has_prices
from flyball.agents.scripted.scripted import load_script
from flyball.config.errors import AgentMissing, ConfigError
from flyball.config.settings import Configured
from flyball.core.extras import install_command
from flyball.core.model.task import AgentChoice, AgentSpec, Settings
from flyball.core.workflows.registry import WORKFLOWS
from flyball.measures.gates.outside import outside_environments
from flyball.measures.gates.ways_back import find_way_back
from flyball.wiring.run.programs import missing_programs


def require_ready(configured: Configured, environment: Mapping[str, str], root: Path) -> None:
    for spec in configured.agents:
        if spec.type == "scripted":
            load_script(root / spec.script)
    require_keepable_budget(configured.settings, configured.agents, WORKFLOWS[configured.workflow].roles)
    _require_agents(configured, environment)
    for what, word in lacking_programs(configured.settings, environment, root):
        place = {"set-up": "setup", "linter": "lint"}.get(what, "[gates]")
        raise ConfigError(
            f"The {what} starts {word}, which is not installed here. Install {word}, or name another program under "
            f"{place} in flyball.toml. See all that is missing with: flyball doctor"
        )
    require_candidate_measured(configured.settings, environment, root)


def require_keepable_budget(settings: Settings, agents: Iterable[AgentSpec], roles: Iterable[str]) -> None:
    """Refuse a budget of money where an agent that may work tells none and its model has no known price."""
    specs, limits = {spec.name: spec for spec in agents}, settings.limits
    # A day's budget is not this task's alone: one of tokens beside it bounds turns without a price.
    bounded = limits.budget_tokens is not None or limits.budget_tokens_per_day is not None
    budget = limits.budget_usd or (None if bounded else limits.budget_usd_per_day)
    if budget is None:
        return
    for choice in map(settings.choice, roles):
        for name in (choice.agent, *choice.fallback):
            spec = specs.get(name)
            model = choice.model if name == choice.agent else spec.model if spec else ""
            dialect = DIALECTS.get(spec.type) if spec else None
            if dialect is not None and not dialect.tells_money and not has_price(model):
                raise ConfigError(f"The budget of {budget:g} USD cannot be kept: {_no_price(name, model)}")


def _no_price(agent: str, model: str) -> str:
    tokens = "Limit the tokens instead: --budget-tokens N"
    if not has_prices():
        command = install_command("prices", sys.executable)
        return (
            f"{agent} does not report what a turn costs, and no prices are installed here. {tokens}; or type: {command}"
        )
    if not model:
        return f"{agent} does not report what a turn costs, and no model is named. {tokens}; or name one: --model MODEL"
    return f"{agent} does not report what a turn costs, and no price of {model} is published. {tokens}"


def _require_agents(configured: Configured, environment: Mapping[str, str]) -> None:
    """Refuse a task with a role that nobody could play: neither its agent nor one that stands in for it."""
    specs = {spec.name: spec for spec in configured.agents}
    for role in WORKFLOWS[configured.workflow].roles:
        choice = configured.settings.choice(role)
        candidates = [specs[name] for name in (choice.agent, *choice.fallback) if name in specs]
        reasons = [
            why_not(spec, configured.settings, environment) or _without_model(spec, choice) for spec in candidates
        ]
        if reasons and all(reasons):
            casting = _why_cast(role, configured.settings)
            raise AgentMissing(f"{'; '.join(reasons)}. {casting}See what is there with: flyball agents")


def _why_cast(role: str, settings: Settings) -> str:
    """Why an agent that nobody typed has a role; a person need not know who was picked."""
    choice, default = settings.choice(role), settings.choice("default")
    if choice.agent == default.agent:
        return ""
    if choice.fixed:
        return f"flyball.toml names {choice.agent} for {role}. "
    return (
        f"{choice.agent} is there for {role}, because another model than that of {default.agent} reviews; to let "
        f'{default.agent} review its own work, set agent = "{default.agent}" below [roles.{role}] in flyball.toml. '
    )


def lacking_programs(settings: Settings, environment: Mapping[str, str], root: Path) -> Iterator[tuple[str, str]]:
    """What starts a program that is not here, and the program."""
    gates = ((f"gate {gate.name}", gate.command) for gate in settings.gates)
    for what, command in (("set-up", settings.setup), *gates, ("linter", settings.lint)):
        setup = "" if what == "set-up" else settings.setup
        yield from ((what, word) for word in missing_programs(command, root, environment, setup))


def why_not(spec: AgentSpec, settings: Settings, environment: Mapping[str, str]) -> str:
    """Why an agent cannot work here; nothing is said of one that the tree or its set-up may bring."""
    known = DIALECTS.get(spec.type)
    program = spec.command[0] if spec.command else known.program if known else ""
    folder, _, name = program.rpartition("/")
    if not program or (folder and not folder.startswith("/")) or (known is None and settings.setup):
        return ""
    if not shutil.which(program, path=environment.get("PATH", os.defpath)):
        hint = f" ({known.install})" if known and not spec.command else ""
        return f"The agent {spec.name} needs {program}, which is not installed{hint}"
    # Another program may log in by itself.
    if known is None or name != known.program:
        return ""
    if known.logged_in(environment, Path(environment.get("HOME", "/"))) is False:
        return f"The agent {spec.name} is not logged in; log in with: {known.login}"
    return ""


def _without_model(spec: AgentSpec, choice: AgentChoice) -> str:
    model = choice.model if spec.name == choice.agent else spec.model
    if spec.type != "command" or model or not any("{model}" in word for word in spec.command):
        return ""
    return f"The command of the agent {spec.name} asks for {{model}}, and no model is set; pass --model MODEL"


def require_candidate_measured(settings: Settings, environment: Mapping[str, str], root: Path) -> None:
    """Refuse a task whose gates would measure the user's own files in place of the agent's."""
    if told := way_back(settings, environment, root):
        raise ConfigError(told)


def way_back(settings: Settings, environment: Mapping[str, str], root: Path) -> str:
    """A sentence where an environment that gates use leads back to the user's own files; empty where none does."""
    if settings.setup or settings.sandbox != "none":
        return ""
    return find_way_back(root, settings, shared_environments(settings, environment))


def shared_environments(settings: Settings, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The environments outside every tree that commands use or that people install into."""
    commands = (*(gate.command for gate in settings.gates), settings.lint)
    outside = outside_environments(commands, environment)
    # A container's own Python is no virtual environment, and people install into it.
    folders = [Path(folder) for folder in environment.get("PATH", os.defpath).split(os.pathsep) if folder]
    homes = [Path(environment.get("HOME", "/"), ".local"), *(each.parent for each in folders if each.name == "bin")]
    shared = dict.fromkeys(place for home in homes for place in home.glob("lib/python3*/*-packages"))
    other = (place for place in shared if not any(place.is_relative_to(each) for each in outside))
    return (*outside, *other)
