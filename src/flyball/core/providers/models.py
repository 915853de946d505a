"""Names of models: which agents have several of their own, and when two names mean the same one."""

import re

from flyball.core.model.task import CLI_TYPES, AgentSpec, CliType

MODELS: dict[CliType, tuple[str, str]] = {
    "claude": ("opus", "sonnet"),
    "codex": ("gpt-6.1-sol", "gpt-5.5"),
    "gemini": ("pro", "flash"),
}
"""Two models of each agent that serves one maker's alone. Which ones the others can use, only their users know."""

_PROGRAMS: dict[str, CliType] = {name: name for name in CLI_TYPES} | {
    "claude-agent-acp": "claude",
    "codex-acp": "codex",
}
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_VARIANT = re.compile(r"\[[^\]]*\]$")


def same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: a provider before it, a date or a variant behind it, and an alias of it do not matter."""
    first, second = _bare(one), _bare(other)
    return first == second or _is_alias(first, second) or _is_alias(second, first)


def _bare(name: str) -> str:
    bare = _VARIANT.sub("", name.strip().lower()).rpartition("/")[2]
    return _DATE.sub("", bare)


def _is_alias(short: str, name: str) -> bool:
    """`opus` is an alias of every `claude-opus-…`; a name with a version is only itself."""
    words = set(re.split(r"[-_.:@ ]", name))
    return bool(short) and not any(c.isdigit() for c in short) and set(short.split("-")) <= words


def maker(spec: AgentSpec) -> str:
    """The known agent whose program this one starts; empty for any other program."""
    if spec.type in CLI_TYPES:
        return spec.type
    program = spec.command[0].rpartition("/")[2] if spec.type == "acp" and spec.command else ""
    return _PROGRAMS.get(program, "")


def models_of(spec: AgentSpec) -> tuple[str, ...]:
    """The models an agent can be asked for: those the user named, else those known of its program."""
    known = MODELS.get(maker(spec), ())  # type: ignore[call-overload]  # any other name has none
    return tuple(dict.fromkeys((*((spec.model,) if spec.model else ()), *(spec.models or known))))


def account_of(spec: AgentSpec) -> str:
    """Whose limits an agent lives under: names that start one program share its login, unless the user says otherwise."""
    if spec.account:
        return f"account {spec.account}"
    if not spec.command and spec.type not in CLI_TYPES:
        return spec.name
    known = maker(spec)
    program = spec.command[0].rpartition("/")[2] if spec.command else known
    if known and (spec.type == "acp" or program == known):
        return f"login {known}"
    return f"command {' '.join(spec.command)}"
