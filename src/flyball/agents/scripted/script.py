"""Scripts of the scripted agent: read from YAML, checked as a whole, every mistake named with file, line and key."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NoReturn

import msgspec
import yaml

from flyball.ports import Refusal

CONDITIONS = ("stage", "role", "subtask", "iteration", "turn")
_NUMBERS = ("iteration", "turn")


class ScriptInvalid(Refusal):
    """A script cannot be used; the message says where and what was expected."""


class Action(msgspec.Struct, frozen=True):
    kind: str
    value: Any
    line: int


class ScriptStep(msgspec.Struct, frozen=True):
    """What to do in a turn that meets every condition; without conditions in any turn."""

    line: int
    when: dict[str, tuple[str, ...]] = {}
    actions: tuple[Action, ...] = ()

    def meets(self, turn: Mapping[str, str]) -> bool:
        return all(turn.get(name, "") in wanted for name, wanted in self.when.items())


class AgentScript(msgspec.Struct, frozen=True):
    name: str
    steps: tuple[ScriptStep, ...]

    def step_for(self, turn: Mapping[str, str]) -> ScriptStep | None:
        """The first step whose conditions this turn meets; `turn` maps the condition names to this turn's values."""
        return next((step for step in self.steps if step.meets(turn)), None)


def read_script(text: str | bytes, name: str) -> AgentScript:
    """Read a script; `name` is how its file is called in messages."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.MarkedYAMLError, yaml.reader.ReaderError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}, line {mark.line + 1}" if mark else name
        reason = getattr(error, "problem", None) or getattr(error, "reason", "it is not text")
        raise ScriptInvalid(f"{where}: not valid YAML: {reason}") from None
    if root is None:
        raise ScriptInvalid(f"{name}: the script is empty; expected `steps:` with a list of steps")
    return _ScriptReader(name).script(root)


class _ScriptReader:
    def __init__(self, name: str) -> None:
        self._name = name

    def script(self, root: yaml.Node) -> AgentScript:
        fields = self._mapping(root, "the script", ("steps",))
        if "steps" not in fields:
            self._refuse(root, "`steps` is missing; expected a list of steps")
        return AgentScript(self._name, tuple(self._step(node) for node in self._items(fields["steps"], "`steps`")))

    def _step(self, node: yaml.Node) -> ScriptStep:
        fields = self._mapping(node, "a step", ("when", "do"))
        when = self._conditions(fields["when"]) if "when" in fields else {}
        if "do" not in fields:
            self._refuse(node, "`do` is missing; expected a list of actions, which may be empty")
        return ScriptStep(_line(node), when, tuple(self._action(item) for item in self._items(fields["do"], "`do`")))

    def _conditions(self, node: yaml.Node) -> dict[str, tuple[str, ...]]:
        found = {}
        for name, value in self._mapping(node, "`when`", CONDITIONS).items():
            alternatives = value.value if isinstance(value, yaml.SequenceNode) else [value]
            kinds: tuple[type, ...] = (int,) if name in _NUMBERS else (str,)
            expected = "a whole number" if name in _NUMBERS else "text"
            found[name] = tuple(str(self._scalar(each, f"`{name}`", kinds, expected)) for each in alternatives)
        return found

    def _action(self, node: yaml.Node) -> Action:
        fields = self._mapping(node, "an action", tuple(_ACTIONS))
        if len(fields) != 1:
            self._refuse(node, f"an action is one word and its value; found {len(fields)}: {', '.join(fields)}")
        ((kind, value),) = fields.items()
        return Action(kind, _ACTIONS[kind](self, value, f"`{kind}`"), _line(node))

    def texts_by_path(self, node: yaml.Node, what: str) -> dict[str, str]:
        pairs = self._mapping(node, what)
        for key, _ in node.value:
            self._inside(key, key.value)
        return {path: self.text(value, f"{what} of {path}") for path, value in pairs.items()}

    def paths(self, node: yaml.Node, what: str) -> tuple[str, ...]:
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return tuple(self._inside(item, self.text(item, what)) for item in items)

    def replacement(self, node: yaml.Node, what: str) -> dict[str, str]:
        wanted = ("path", "old", "new")
        fields = self._mapping(node, what, wanted)
        if missing := [name for name in wanted if name not in fields]:
            self._refuse(node, f"{what} lacks {', '.join(missing)}; expected path, old and new")
        self._inside(fields["path"], self.text(fields["path"], f"path of {what}"))
        return {name: self.text(value, f"{name} of {what}") for name, value in fields.items()}

    def text(self, node: yaml.Node, what: str) -> str:
        return str(self._scalar(node, what, (str,), "text; put it in quotes"))

    def seconds(self, node: yaml.Node, what: str) -> float:
        value = float(self._scalar(node, what, (int, float), "a number of seconds"))
        if not 0 <= value < math.inf:
            self._refuse(node, f"{what} is {value}; expected a number of seconds from 0")
        return value

    def status(self, node: yaml.Node, what: str) -> int:
        value = int(self._scalar(node, what, (int,), "an exit status"))
        if not 0 <= value <= 255:
            self._refuse(node, f"{what} is {value}; expected an exit status from 0 to 255")
        return value

    def object(self, node: yaml.Node, what: str) -> dict[str, Any]:
        self._mapping(node, what)
        value = _construct(node)
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError) as error:
            self._refuse(node, f"{what} cannot be written as JSON: {error}")
        return dict(value)

    def _mapping(self, node: yaml.Node, what: str, known: Iterable[str] = ()) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            self._refuse(node, f"{what} is {_kind(node)}; expected keys with values")
        expected = tuple(known)
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(self._scalar(key, f"a key of {what}", (str,), "text; put it in quotes"))
            if expected and name not in expected:
                self._refuse(key, f"unknown key `{name}` in {what}; expected one of {', '.join(expected)}")
            if name in found:
                self._refuse(key, f"the key `{name}` appears twice in {what}")
            found[name] = value
        return found

    def _items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self._refuse(node, f"{what} is {_kind(node)}; expected a list")
        return list(node.value)

    def _scalar(self, node: yaml.Node, what: str, kinds: tuple[type, ...], expected: str) -> Any:
        value = _construct(node) if isinstance(node, yaml.ScalarNode) else None
        if not isinstance(value, kinds) or isinstance(value, bool):
            shown = node.value if isinstance(node, yaml.ScalarNode) and node.value else _kind(node)
            self._refuse(node, f"{what} is {shown}; expected {expected}")
        return value

    def _inside(self, node: yaml.Node, path: str) -> str:
        if not path or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
            self._refuse(node, f"the path {path!r} does not lie in the workspace; give one relative to its root")
        return path

    def _refuse(self, node: yaml.Node, reason: str) -> NoReturn:
        raise ScriptInvalid(f"{self._name}, line {_line(node)}: {reason}")


_ACTIONS: dict[str, Callable[[_ScriptReader, yaml.Node, str], Any]] = {
    "write": _ScriptReader.texts_by_path,
    "append": _ScriptReader.texts_by_path,
    "delete": _ScriptReader.paths,
    "replace": _ScriptReader.replacement,
    "run": _ScriptReader.text,
    "print": _ScriptReader.text,
    "stderr": _ScriptReader.text,
    "sleep": _ScriptReader.seconds,
    "report": _ScriptReader.object,
    "say": _ScriptReader.text,
    "exit": _ScriptReader.status,
}


def _construct(node: yaml.Node) -> Any:
    try:
        return yaml.SafeLoader("").construct_document(node)
    except (yaml.YAMLError, ValueError):
        return None


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return f"{node.value!r}" if node.value else "nothing"
