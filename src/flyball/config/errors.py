"""What can be wrong with settings, each as one sentence that says where it stands and what was expected."""

from pathlib import Path

from flyball.ports import Refusal


class ConfigError(Refusal):
    """A sentence that says what happened and what to do next."""


class ConfigInvalid(ConfigError):
    def __init__(self, file: Path, line: int, key: str, problem: str) -> None:
        named = f"{key}: " if key else ""
        super().__init__(f"{file}, line {line}: {named}{problem}")
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem


class FlagInvalid(ConfigError):
    def __init__(self, flag: str, problem: str) -> None:
        super().__init__(f"{flag}: {problem}")
        self.flag = flag
        self.problem = problem


class AgentMissing(ConfigError):
    """No program of the agent that is to work is installed."""
