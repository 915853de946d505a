"""Reads `flyball.toml` or `[tool.flyball]` of pyproject.toml; whatever is wrong is said with file, line and key."""

import difflib
import re
import stat
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from flyball.config import locator, schema
from flyball.config.errors import ConfigInvalid

FILE = "flyball.toml"
SHARED_FILE = "pyproject.toml"
USER_FILE = "settings.toml"
MAX_BYTES = 1024 * 1024

_SHARED_TABLE = ("tool", "flyball")
_TOML_PLACE = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")
_WHERE = re.compile(r"(?s)(.*?) - at `\$(.*)`")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")

S = TypeVar("S", bound=msgspec.Struct)


class Origin(msgspec.Struct, frozen=True):
    """The file settings came from, kept so that an error found later still knows its line."""

    path: Path
    text: str
    table: tuple[str, ...] = ()

    def invalid(self, key: Iterable[locator.Key], problem: str) -> ConfigInvalid:
        """The error for a key, given as its path below flyball's own table."""
        whole = (*self.table, *key)
        return ConfigInvalid(self.path, locator.line_of(self.text, whole), spell_key(whole), problem)


class FileConfig(msgspec.Struct, frozen=True):
    """What a file says, checked key by key; None is not said."""

    origin: Origin
    top: schema.TopLevel = schema.TopLevel()
    agents: dict[str, schema.AgentTable] = {}
    roles: dict[str, schema.RoleTable] = {}
    gates: dict[str, schema.GateTable] = {}
    gate_options: schema.GateOptions = schema.GateOptions()
    limits: schema.LimitsTable = schema.LimitsTable()
    breaker: dict[str, schema.StrikesTable] = {}
    cooldown: schema.Duration | None = None
    monitor: dict[str, int] = {}
    qa: dict[str, str] = {}
    code: dict[str, int] = {}
    evaluate: dict[str, tuple[str, ...]] = {}
    evaluators: schema.EvaluatorsTable = schema.EvaluatorsTable()
    ship: schema.ShipTable = schema.ShipTable()
    imports: schema.ImportTable = schema.ImportTable()
    notify: schema.NotifyTable = schema.NotifyTable()
    telemetry: schema.TelemetryTable = schema.TelemetryTable()


NO_SETTINGS = FileConfig(Origin(Path(FILE), ""))
"""What the file of a repository says that has none."""


def read(root: Path) -> FileConfig | None:
    own, shared = root / FILE, root / SHARED_FILE
    has_own = own.exists() or own.is_symlink()
    raw = _bytes(shared) if shared.is_file() else b""
    if b"flyball" in raw:
        origin = Origin(shared, _text(shared, raw), _SHARED_TABLE)
        tool = _parse_toml(shared, origin.text).get("tool")
        table = tool.get("flyball") if isinstance(tool, dict) else None
        if table is not None:
            if not isinstance(table, dict):
                raise origin.invalid((), f"expected a table, but it is {spell_value(table)}")
            if has_own:
                raise origin.invalid((), f"{own} configures flyball too; expected one of the two. Remove one.")
            return _convert(table, origin)
    return parse(_text(own, _bytes(own)), own) if has_own else None


def parse(text: str, path: Path = Path(FILE)) -> FileConfig:
    """The configuration in a text that stands, or will stand, in `path`."""
    return _convert(_parse_toml(path, text), Origin(path, text))


def read_user(home: Path) -> schema.UserSettings:
    path = home / USER_FILE
    if not path.exists():
        return schema.UserSettings()
    origin = Origin(path, _text(path, _bytes(path)))
    return _Conversion(origin).struct(_parse_toml(path, origin.text), schema.UserSettings, ())


def spell_key(path: Iterable[locator.Key]) -> str:
    """A key as a person would write it: `gates.carry[1]`."""
    written = ""
    for key in path:
        if isinstance(key, int):
            written += f"[{key}]"
        else:
            name = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else msgspec.json.encode(key).decode()
            written += f".{name}" if written else name
    return written


def nearest(word: str, known: Iterable[str]) -> str:
    names = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), names, n=1)
    return f" (did you mean {names[close[0]]}?)" if close else ""


def _astray(key: str, path: tuple[str, ...]) -> str:
    home = schema.home_of(key)
    if home and path != (home,):
        return f"; it belongs in [{home}]"
    return "; it belongs above all tables" if key in schema.TopLevel.__struct_fields__ else ""


def _bytes(path: Path) -> bytes:
    try:
        require_regular(path)
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigInvalid(
            path, 1, "", f"it cannot be read ({error.strerror}); expected a readable TOML file."
        ) from error


def require_regular(path: Path) -> None:
    """Refuse what would keep a reader or writer waiting: a pipe, a socket, a device; a folder too."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ConfigInvalid(
            path, 1, "", "it is not a regular file; expected settings in TOML. Put a file in its place."
        )


def _text(path: Path, raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise ConfigInvalid(path, 1, "", f"it is larger than {MAX_BYTES} bytes; expected settings in TOML.")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise ConfigInvalid(path, line, "", f"byte {byte:#04x} is not UTF-8; expected TOML text.") from error


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_PLACE.fullmatch(str(error))
        problem = match[1] if match else str(error)
        line = int(match[2]) if match and match[2] else text.rstrip("\n").count("\n") + 1
        raise ConfigInvalid(path, line, "", f"this is not valid TOML: {problem}.") from error
    except RecursionError:
        raise ConfigInvalid(path, 1, "", "lists or tables are nested too deeply.") from None


def _convert(data: dict[str, Any], origin: Origin) -> FileConfig:
    top = {key: value for key, value in data.items() if key not in schema.TABLES}
    tables = {name: _table(data.get(name, {}), (name,), origin) for name in schema.TABLES}
    convert = _Conversion(origin)
    gate_options, gates = convert.mixed_table("gates", tables["gates"])
    breaker_options, breaker = convert.mixed_table("breaker", tables["breaker"])
    sections: dict[str, Any] = {
        name: convert.struct(tables[name], kind, (name,)) for name, kind in schema.SECTIONS.items()
    }
    sections["imports"] = sections.pop("import")
    for name in ("monitor", "qa", "code", "evaluate"):
        sections[name] = given_values(sections[name])
    return FileConfig(
        origin=origin,
        top=convert.struct(top, schema.TopLevel, (), also=schema.TABLES),
        agents=convert.named_tables("agents", tables["agents"], schema.AgentTable),
        roles=convert.named_tables("roles", tables["roles"], schema.RoleTable),
        gates=gates,
        gate_options=gate_options,
        breaker=breaker,
        cooldown=breaker_options.cooldown,
        **sections,
    )


def given_values(table: msgspec.Struct) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(table).items() if value is not None}


def _table(value: object, path: tuple[str, ...], origin: Origin) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise origin.invalid(path, f"expected a table, [{spell_key(path)}], but it is {spell_value(value)}")
    return value


class _Conversion:
    """Turns tables into structs, and msgspec's complaints into sentences."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin

    def named_tables(self, section: str, table: Mapping[str, Any], kind: type[S]) -> dict[str, S]:
        found: dict[str, S] = {}
        for name, value in table.items():
            if not schema.NAME.fullmatch(name):
                wanted = "a name of letters, digits, - and _, at most 64"
                raise self._origin.invalid((section, name), f"expected {wanted}")
            found[name] = self.struct(_table(value, (section, name), self._origin), kind, (section, name))
        return found

    def mixed_table(self, section: str, table: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        options_kind, kind = schema.MIXED[section]
        own = options_kind.__struct_fields__
        options = self.struct({k: v for k, v in table.items() if k in own}, options_kind, (section,))
        entries = {k: self._entry(section, k, v) for k, v in table.items() if k not in own}
        return options, self.named_tables(section, entries, kind)

    def _entry(self, section: str, name: str, value: object) -> object:
        if isinstance(value, dict):
            return value
        if section == "gates" and isinstance(value, str):
            if not value.strip():
                raise self._origin.invalid((section, name), 'expected a command line that is not empty, but it is ""')
            return {"command": value}
        hint = nearest(name, schema.MIXED[section][0].__struct_fields__)
        wanted = "a command line in quotation marks, or a table" if section == "gates" else "a table"
        raise self._origin.invalid((section, name), f"expected {wanted}, but it is {spell_value(value)}{hint}")

    def struct(self, value: object, kind: type[S], path: tuple[str, ...], also: Iterable[str] = ()) -> S:
        try:
            return msgspec.convert(value, kind, dec_hook=schema.convert_duration)
        except msgspec.ValidationError as error:
            match = _WHERE.fullmatch(str(error))
            problem, place = (match[1], match[2]) if match else (str(error), "")
            steps = tuple(int(index) if index else name for name, index in _STEP.findall(place))
            raise self._explain(problem, kind, value, path, steps, also) from error

    def _explain(
        self, problem: str, kind: type, value: Any, path: tuple[str, ...], steps: locator.Path, also: Iterable[str]
    ) -> ConfigInvalid:
        if unknown := _UNKNOWN.fullmatch(problem):
            known = (*kind.__struct_fields__, *also)  # type: ignore[attr-defined]
            hint = nearest(unknown[1], known) or _astray(unknown[1], path) or f"; expected one of: {', '.join(known)}"
            return self._origin.invalid((*path, unknown[1]), f"there is no such key{hint}")
        if missing := _MISSING.fullmatch(problem):
            return self._origin.invalid(path, f"expected a key {missing[1]}: {expectation(kind, missing[1])}")
        for step in steps:
            value = value[step]
        wanted = expectation(kind, str(steps[0]))
        return self._origin.invalid((*path, *steps), f"expected {wanted}, but it is {spell_value(value)}")


def expectation(kind: type, field: str) -> str:
    hint = get_type_hints(kind, include_extras=True)[field]
    for part in (hint, *get_args(hint)):
        for note in getattr(part, "__metadata__", ()):
            if isinstance(note, msgspec.Meta) and note.description:
                return note.description
    raise AssertionError(f"{kind.__name__}.{field} has no description")


def spell_value(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return str(value).lower()
    text = msgspec.json.encode(value).decode() if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
