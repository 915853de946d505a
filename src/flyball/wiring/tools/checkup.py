"""Looks at everything a loop stands on, and says of each whether it will hold and how to mend it."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from flyball.agents.dialects.table import DIALECTS
from flyball.clock import system_clock
from flyball.config import file as config_file, trust
from flyball.config.errors import ConfigError
from flyball.config.file import NO_SETTINGS, FileConfig
from flyball.config.home import environment, home_folder
from flyball.config.schema import TopLevel
from flyball.core.fold.lanes import JournalOutOfOrder
from flyball.core.model.naming import LOOP
from flyball.core.model.task import Gate, Settings
from flyball.core.text.quantities import plural
from flyball.core.workflows.registry import UNUSABLE, WorkflowMissing
from flyball.documents.errors import DocumentError
from flyball.documents.loop_folder import check_foreign, rendered_tasks
from flyball.journal.records import Holder
from flyball.measures.evaluators.offered import find_evaluators
from flyball.measures.evaluators.toolbox import TOOLS, find_tool
from flyball.ports import Refusal
from flyball.projections.wording import size
from flyball.wiring.presence import controller_of
from flyball.wiring.role_prompts import read_prompts
from flyball.wiring.run.programs import missing_programs, programs_of
from flyball.wiring.run.readiness import way_back
from flyball.wiring.site import Site
from flyball.wiring.tasks.cleaning import finished_tasks, space
from flyball.wiring.tools.roster import Listed, roster, roster_entry
from flyball.workspace import git
from flyball.workspace.errors import DamagedRepository
from flyball.workspace.sandbox import Unavailable, available

Level = Literal["ok", "warn", "fail"]
LITTLE_SPACE = 1024**3
NO_SPACE = 100 * 1024**2
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)
AHEAD = timedelta(minutes=5)


class MachineCheck(msgspec.Struct, frozen=True):
    """One thing looked at; `fix` says what to do unless all is well."""

    name: str
    level: Level
    says: str
    fix: str = ""


def checkup(here: Path) -> Iterator[MachineCheck]:
    """Every check, in the order in which one stands on the other."""
    versioned = _git()
    yield versioned
    yield _sandbox()
    yield _clock()
    yield from _home()
    yield from _unusable("workflow", UNUSABLE)
    yield from _evaluators()
    if versioned.level == "fail":
        return
    try:
        site = Site.find(here)
    except DamagedRepository as error:
        yield MachineCheck("repository", "fail", error.sentence, "git fsck")
        return
    except Refusal as error:
        fix = "run flyball doctor inside the repository you want to work on"
        yield MachineCheck("repository", "fail", str(error), fix)
        return
    yield _repository(site)
    yield from _tasks(site)
    yield _loop_folder(site)
    yield from _configuration(site)


def _evaluators() -> Iterator[MachineCheck]:
    """The tools of `flyball dispatch`, of which a loop needs none, and evaluators of other packages that cannot be used."""
    missing = [name for name in TOOLS if not find_tool(name, environment())]
    by_fix: dict[str, list[str]] = {}
    for name in missing:
        by_fix.setdefault(TOOLS[name].get, []).append(name)
    if not missing:
        yield MachineCheck("evaluators", "ok", f"all tools of flyball dispatch are there: {', '.join(TOOLS)}")
    for fix, names in by_fix.items():
        yield MachineCheck("evaluators", "warn", f"flyball dispatch lacks {', '.join(names)}", fix)
    yield from _unusable("evaluator", find_evaluators().unusable)


def _unusable(what: str, found: Mapping[str, str]) -> Iterator[MachineCheck]:
    for name, why in found.items():
        yield MachineCheck(what, "warn", f"{name}: {why}", "uninstall or repair that package")


def _git() -> MachineCheck:
    try:
        found = git.version()
    except Refusal as error:
        return MachineCheck("git", "fail", str(error), "install git, for example with: apt install git")
    return MachineCheck("git", "ok", f"version {'.'.join(map(str, found))}")


def _sandbox() -> MachineCheck:
    found = available()
    if isinstance(found, Unavailable):
        fix = "without one, unattended runs need --sandbox none, and the agent has your permissions, limited only by its own safeguards"
        return MachineCheck("sandbox", "warn", found.reason, fix)
    return MachineCheck("sandbox", "ok", f"bubblewrap works ({found})")


def _clock() -> MachineCheck:
    now = system_clock.now()
    if now < EARLIEST:
        return MachineCheck("clock", "fail", f"the clock says {now:%Y-%m-%d %H:%M} UTC", "set the machine's clock")
    return MachineCheck("clock", "ok", f"{now:%Y-%m-%d %H:%M:%S} UTC")


def _home() -> Iterator[MachineCheck]:
    try:
        home = home_folder()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as probe:
            probe.write(b"flyball")
        free = shutil.disk_usage(home).free
    except (OSError, ConfigError) as error:
        yield MachineCheck(
            "home", "fail", f"flyball's folder cannot be written: {error}", "set FLYBALL_HOME to a folder you own"
        )
        return
    yield MachineCheck("home", "ok", str(home))
    level: Level = "fail" if free < NO_SPACE else "warn" if free < LITTLE_SPACE else "ok"
    fix = "" if level == "ok" else f"free some space on the disk of {home}"
    yield MachineCheck("disk", level, f"{free / 1024**3:.1f} GiB free", fix)


def _repository(site: Site) -> MachineCheck:
    repository = site.repository
    if repository.damage:
        return MachineCheck("repository", "fail", f"{repository.root} is damaged: {repository.damage}", "git fsck")
    if repository.head is None:
        fix = 'git add -A && git commit --allow-empty -m "Start"'
        return MachineCheck("repository", "fail", f"{repository.root} has no commit", fix)
    return MachineCheck("repository", "ok", f"{repository.root} on {repository.branch or 'a detached HEAD'}")


def _tasks(site: Site) -> Iterator[MachineCheck]:
    """Every task's journal is read whole; one that nobody works on but that says so was killed."""
    records = site.journal.tasks()
    damaged = 0
    for record in records:
        try:
            state = site.state(record.id)
        except (Refusal, JournalOutOfOrder, WorkflowMissing) as error:
            damaged += 1
            yield MachineCheck("journal", "fail", f"{record.id}: {error}", f"keep a copy of {site.home.journal}")
            continue
        if state.stopped is None and state.session_began_at is not None and controller_of(site, record.id) is None:
            says = f"{record.id} was cut off in {state.main.stage}"
            yield MachineCheck("task", "warn", says, f"flyball resume {record.id}")
        if state.now > system_clock.now() + AHEAD:
            says = f"{record.id} has facts from {state.now:%Y-%m-%d %H:%M} UTC, which is in the future"
            yield MachineCheck("clock", "warn", says, "set the machine's clock")
    forgotten = sorted(rendered_tasks(site.repository.root) - {record.id for record in records})
    if forgotten:
        # Tasks were worked on here that the journal does not know: it was removed, or another one is looked at.
        says = f"{site.home.journal} does not contain {', '.join(forgotten[:3])}, which {LOOP}/ mentions"
        put_back = "set FLYBALL_HOME to the folder the tasks were opened with, or put the journal back"
        yield MachineCheck("journal", "warn", says, f"{put_back}; else remove {LOOP}/{forgotten[0]}")
    elif not damaged:
        yield MachineCheck("journal", "ok", f"{site.home.journal}, {plural(len(records), 'task')}")
    yield _locks(site)
    if not damaged:
        yield _space(site)


def _space(site: Site) -> MachineCheck:
    """What tasks take up of the disk that could be made again, and how to have it back."""
    taken = {record.id: space(site, site.state(record.id).task) for record in site.journal.tasks()}
    free = sum(taken[task] for task in finished_tasks(site))
    told = f"checkouts, gate folders and environments of tasks use {size(sum(taken.values()))}"
    command = ": flyball clean --finished" if free else ""
    return MachineCheck("space", "ok", f"{told}; finished tasks use {size(free)} of it{command}")


def _locks(site: Site) -> MachineCheck:
    stale = []
    for path in sorted((*site.home.locks.glob("*.lock"), *site.home.shared_locks.glob("*.lock"))):
        with suppress(OSError, msgspec.MsgspecError):
            holder = msgspec.json.decode(path.read_bytes(), type=Holder)
            if not holder.is_alive():
                stale.append(f"{path.name} (process {holder.pid}, gone)")
    says = f"left by killed controllers, and harmless: {', '.join(stale[:3])}" if stale else "none is left over"
    return MachineCheck("locks", "ok", says)


def _loop_folder(site: Site) -> MachineCheck:
    try:
        check_foreign(site.repository.root)
    except DocumentError as error:
        return MachineCheck(".loop", "fail", str(error), "move what is not flyball's out of .loop/")
    return MachineCheck(".loop", "ok", "it holds flyball's own files only")


def _configuration(site: Site) -> Iterator[MachineCheck]:
    try:
        file = config_file.read(site.repository.root)
        prompts = read_prompts(site.repository, file)
    except ConfigError as error:
        yield MachineCheck("configuration", "fail", str(error), f"edit {site.repository.root / config_file.FILE}")
        return
    if file is None:
        yield MachineCheck("configuration", "warn", "there is no flyball.toml", "flyball init")
    else:
        yield MachineCheck("configuration", "ok", str(file.origin.path))
        if trust.is_trusted(site.home, file, prompts=prompts):
            yield MachineCheck("trust", "ok", "you agreed to its commands and permissions")
        else:
            yield MachineCheck("trust", "warn", "you have not agreed to what it runs", "flyball trust")
    yield from _commands(site.repository.root, file)
    yield from _ways_back(site.repository.root, file)
    yield from _agents(file)


def _commands(root: Path, file: FileConfig | None) -> Iterator[MachineCheck]:
    """The programs that gates, linter and set-up start; without a gate nothing can be measured."""
    gates = {f"gate {name}": gate.command for name, gate in file.gates.items()} if file else {}
    if not gates:
        fix = "flyball init" if file is None else f'add test = "COMMAND" below [gates] in {file.origin.path.name}'
        yield MachineCheck("gate", "fail", "none is configured, so nothing could be measured", fix)
    top = file.top if file else TopLevel()
    for what, command in {"setup": top.setup, **gates, "lint": top.lint}.items():
        if command:
            missing = missing_programs(command, root, environment(), "" if what == "setup" else top.setup or "")
            yield _startable(what, ", ".join(programs_of(command)) or "the shell", missing)


def _ways_back(root: Path, file: FileConfig | None) -> Iterator[MachineCheck]:
    """Where no sandbox shows the candidate in the repository's place, whether an environment leads to the user's own files."""
    settings_file = file or NO_SETTINGS
    if settings_file.top.sandbox != "none" and not isinstance(available(), Unavailable):
        return
    settings = Settings(
        gates=tuple(Gate(name, gate.command) for name, gate in settings_file.gates.items()),
        setup=settings_file.top.setup or "",
        environment_folders=settings_file.gate_options.environment or Settings().environment_folders,
        sandbox="none",
    )
    if told := way_back(settings, environment(), root):
        fix = 'add setup = "COMMAND" to flyball.toml, then: flyball trust'
        yield MachineCheck("environment", "fail", told.partition(" Add setup")[0], fix)


def _startable(what: str, programs: str, missing: Sequence[str]) -> MachineCheck:
    if missing:
        fix = f"install {missing[0]}, or name another program in flyball.toml"
        return MachineCheck(what, "fail", f"{', '.join(missing)} is not installed", fix)
    return MachineCheck(what, "ok", f"{programs} can be started")


def _agents(file: FileConfig | None) -> Iterator[MachineCheck]:
    """The agents that are configured; without one, what would be there to work."""
    named = sorted(_known_agents(file)) if file else []
    for name, table in file.agents.items() if file else ():
        if table.command:
            program = table.command[0]
            in_tree = "/" in program and not program.startswith("/")
            missing = () if in_tree or shutil.which(program) is not None else (program,)
            yield _startable(f"agent {name}", program, missing)
    for name in named:
        yield _agent(roster_entry(DIALECTS[name], environment()))
    if named or (file and file.agents):
        return
    there = roster(environment(), versions=False)
    found = [agent.name for agent in there if agent.path and agent.logged_in is not False]
    if found:
        fix = f'name it: agent = "{found[0]}" in flyball.toml, or: flyball run "…" --agent {found[0]}'
        yield MachineCheck("agent", "fail", f"none is configured; {', '.join(found)} could work here", fix)
    else:
        fix = 'flyball agents shows how to get one; any other program works too: flyball run "…" --agent-command "PROGRAM"'
        says = "none is configured, and none that flyball knows is installed and logged in"
        yield MachineCheck("agent", "fail", says, fix)


def _known_agents(file: FileConfig) -> set[str]:
    """Those of the agents flyball knows that this configuration may start."""
    own = {table.type or name for name, table in file.agents.items() if not table.command}
    fallback = (other for table in file.agents.values() for other in table.fallback)
    playing = (role.agent for role in file.roles.values())
    named = {*fallback, *playing, file.top.agent} - set(file.agents)
    return {name for name in (*own, *named) if name is not None and name in DIALECTS}


def _agent(found: Listed) -> MachineCheck:
    what = f"agent {found.name}"
    if not found.path:
        return MachineCheck(what, "fail", f"{found.program} is not installed", found.fix)
    if found.logged_in is False:
        return MachineCheck(what, "fail", "not logged in", found.fix)
    says = "installed and logged in" if found.logged_in else "installed; login not known"
    return MachineCheck(what, "ok", says)
