"""Scripts of the scripted agent: read from YAML, checked as a whole, every mistake named with its file and place."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import UNSET, Meta, UnsetType

from flyball.ports import Refusal


class ScriptInvalid(Refusal):
    """A script cannot be used; the message says where and what was expected."""


class Replacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    old: str
    new: str


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of these words, and its value."""

    write: dict[str, str] | UnsetType = UNSET
    append: dict[str, str] | UnsetType = UNSET
    replace: Replacement | UnsetType = UNSET
    delete: str | tuple[str, ...] | UnsetType = UNSET
    run: str | UnsetType = UNSET
    print: str | UnsetType = UNSET
    say: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET
    sleep: Annotated[float, Meta(ge=0, le=1e6)] | UnsetType = UNSET
    report: dict[str, Any] | UnsetType = UNSET
    exit: Annotated[int, Meta(ge=0, le=255)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if sum(value is not UNSET for value in msgspec.structs.astuple(self)) != 1:
            raise ValueError(f"An action is one word and its value; the words are {', '.join(self.__struct_fields__)}")
        replaced = [self.replace.path] if isinstance(self.replace, Replacement) else []
        for path in (*(self.write or ()), *(self.append or ()), *self.deleted, *replaced):
            if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
                raise ValueError(f"The path {path!r} does not lie in the workspace; give one relative to its root")

    @property
    def kind(self) -> str:
        return next(name for name in self.__struct_fields__ if getattr(self, name) is not UNSET)

    @property
    def deleted(self) -> tuple[str, ...]:
        return (self.delete,) if isinstance(self.delete, str) else self.delete or ()


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values that a turn may have, one or several for each name."""

    stage: str | tuple[str, ...] = ()
    role: str | tuple[str, ...] = ()
    subtask: str | tuple[str, ...] = ()
    iteration: int | tuple[int, ...] = ()
    turn: int | tuple[int, ...] = ()

    def alternatives(self, name: str) -> tuple[str, ...]:
        values = getattr(self, name)
        return tuple(map(str, values if isinstance(values, tuple) else (values,)))


CONDITIONS = Conditions.__struct_fields__


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do in a turn that meets every condition; without conditions in any turn."""

    do: tuple[Action, ...]
    when: Conditions = Conditions()

    def meets(self, turn: Mapping[str, str]) -> bool:
        wanted = {name: self.when.alternatives(name) for name in CONDITIONS}
        return all(turn.get(name, "") in values for name, values in wanted.items() if values)


class AgentScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    steps: tuple[ScriptStep, ...]

    def step_for(self, turn: Mapping[str, str]) -> tuple[int, ScriptStep] | None:
        """The first step whose conditions this turn meets, and its number; `turn` maps the names of conditions to values."""
        return next(((number, step) for number, step in enumerate(self.steps, 1) if step.meets(turn)), None)


def read_script(text: str | bytes, name: str) -> AgentScript:
    """Read a script; `name` is how its file is called in messages."""
    try:
        return msgspec.convert(yaml.safe_load(text), AgentScript)
    except msgspec.ValidationError as error:
        raise ScriptInvalid(f"{name}: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        raise ScriptInvalid(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}") from None
