"""flyball's roles as the agent definition files of the programs people already use: one neutral source, five formats."""

import json
from collections.abc import Callable, Mapping

import msgspec

from flyball.core.loop.role import Ability, Role
from flyball.core.roles.loop_roles import LOOP_ROLES, LoopRole, Target
from flyball.core.roles.workers import roles

MANIFEST = "flyball-export.json"


def exported_roles() -> tuple[Role, ...]:
    """The roles of all workflows, and those of the loop itself."""
    return (*roles(), *LOOP_ROLES)


_CLAIM = """## How to end
If your prompt comes from flyball it names a report; write that. Otherwise end your answer with one line `Status: complete`,
`Status: in_progress` or `Status: blocked`, and after a review with one line `Verdict: pass`, `Verdict: warn` or `Verdict: fail`.
Say what you did and how you checked it. Whether the work is done is measured, not said: `flyball status` knows."""

_CLAUDE: dict[Ability, tuple[str, ...]] = {
    "read": ("Read",),
    "search": ("Grep", "Glob"),
    "edit": ("Edit", "Write"),
    "shell": ("Bash",),
    "agent": ("Agent",),
    "ask": ("AskUserQuestion",),
    "todo": ("TodoWrite",),
}
_COPILOT: dict[Ability, tuple[str, ...]] = {
    "read": ("read",),
    "search": ("search",),
    "edit": ("edit",),
    "shell": ("execute",),
    "agent": ("agent",),
    "ask": ("vscode/askQuestions",),
    "todo": ("todo",),
}
_GEMINI: dict[Ability, tuple[str, ...]] = {
    "read": ("read_file", "list_directory"),
    "search": ("grep_search", "glob"),
    "edit": ("replace", "write_file"),
    "shell": ("run_shell_command",),
    "ask": ("ask_user",),
    "todo": ("write_todos",),
}
_OPENCODE: dict[Ability, str] = {"edit": "edit", "shell": "bash"}


class Export(msgspec.Struct, frozen=True):
    """What a target's folder is to hold: text by path, and where to keep note of what was written."""

    files: dict[str, str]
    manifest: str


def exported_agents(target: Target) -> Export:
    """Every role as the target reads it, below the root of a project or a home folder."""
    folder, suffix, write = _FORMATS[target]
    files = {f"{folder}/agents/{title(role)}{suffix}": write(title(role), role) for role in exported_roles()}
    return Export(files, f"{folder}/{MANIFEST}")


def title(role: Role) -> str:
    """A role's name among agents that others have written."""
    return f"flyball-{role.name}"


def claude_agent(name: str, role: Role) -> str:
    tools = ", ".join(_tools(role, _CLAUDE))
    head = {"name": name, "description": role.description, "tools": tools, "model": "inherit"}
    return _page(head, role, "claude")


def _copilot(name: str, role: Role) -> str:
    head = {"name": name, "description": role.description, "tools": _tools(role, _COPILOT)}
    return _page(head, role, "copilot")


def _opencode(_name: str, role: Role) -> str:
    """Permissions, not tools: whatever is not named here stays as the user has set it."""
    may = {key: "allow" if ability in role.abilities else "deny" for ability, key in _OPENCODE.items()}
    return _page({"description": role.description, "mode": "all", "permission": may}, role, "opencode")


def _gemini(name: str, role: Role) -> str:
    tools = _tools(role, _GEMINI)
    head = {"name": name, "description": role.description, "kind": "local", "tools": tools, "model": "inherit"}
    return _page(head, role, "gemini")


def _codex(name: str, role: Role) -> str:
    """Codex knows no list of tools: what a role may do is its sandbox. A reviewer that runs tests needs to write."""
    sandbox = "read-only" if set(role.abilities) <= {"read", "search"} else "workspace-write"
    lines = [
        f"name = {_value(name)}",
        f"description = {_value(role.description)}",
        f"sandbox_mode = {_value(sandbox)}",
        f"developer_instructions = '''\n{_body(role)}'''",
    ]
    return "\n".join(lines) + "\n"


_FORMATS: dict[Target, tuple[str, str, Callable[[str, Role], str]]] = {
    "claude": (".claude", ".md", claude_agent),
    "opencode": (".opencode", ".md", _opencode),
    "copilot": (".github", ".agent.md", _copilot),
    "gemini": (".gemini", ".md", _gemini),
    "codex": (".codex", ".toml", _codex),
}


def _tools(role: Role, table: dict[Ability, tuple[str, ...]]) -> list[str]:
    return [tool for ability in role.abilities for tool in table.get(ability, ())]


def _page(head: Mapping[str, object], role: Role, target: Target) -> str:
    own = dict(role.settings.get(target, ())) if isinstance(role, LoopRole) else {}
    lines = [f"{key}: {_value(value)}" for key, value in {**head, **own}.items()]
    return "\n".join(["---", *lines, "---", "", _body(role)])


def _body(role: Role) -> str:
    if isinstance(role, LoopRole):
        return f"# The {role.name} of a loop governed by flyball\n\n{role.text}\n"
    alone = "If flyball does not drive you, nothing you change is discarded, so change no file. "
    bound = "" if "edit" in role.abilities else alone
    known = f"{bound}Criteria and measurements that your prompt does not give you: `flyball status --json`."
    return f"# The {role.name} of a change governed by flyball\n\n{role.text}\n\n{known}\n\n{_CLAIM}\n"


def _value(value: object) -> str:
    """A value that YAML reads as JSON does; a string, TOML too."""
    return json.dumps(value, ensure_ascii=False)
