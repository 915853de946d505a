"""OpenAPI documents: whether they are sound and agree with the routes of the code."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import yaml

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
_DOCUMENT = re.compile(r"^\s*[\"']?(?:openapi|swagger)[\"']?\s*:", re.MULTILINE)
_PYTHON_ROUTE = re.compile(
    r"^\s*@(?P<app>\w+)\.(?P<method>get|post|put|patch|delete)\(\s*[\"'](?P<path>/[^\"']*)[\"']", re.MULTILINE
)
_FLASK_ROUTE = re.compile(
    r"^\s*@(?P<app>\w+)\.route\(\s*[\"'](?P<path>/[^\"']*)[\"'](?:[^)]*methods\s*=\s*\[(?P<methods>[^\]]*)\])?",
    re.MULTILINE,
)
_SCRIPT_ROUTE = re.compile(
    r"^\s*(?:app|router|server)\.(get|post|put|patch|delete)\(\s*[\"'`](/[^\"'`$]*)[\"'`]", re.MULTILINE
)
_PREFIX = re.compile(
    r"APIRouter\([^)]*prefix\s*=|include_router\([^)]*prefix\s*=|Blueprint\([^)]*url_prefix\s*=|root_path\s*="
)


class Route(msgspec.Struct, frozen=True):
    method: str
    path: str
    file: str
    line: int


def documents(tree: SourceTree) -> dict[str, dict[str, Any]]:
    found = {}
    for path in tree.files:
        if path.endswith((".yaml", ".yml", ".json")) and _DOCUMENT.search(tree.text(path)[:4000]):
            try:
                read = yaml.safe_load(tree.text(path))
            except yaml.YAMLError:
                read = {}
            if isinstance(read, dict) and isinstance(read.get("paths", {}), dict):
                found[path] = read
    return found


def unsound_parts(tree: SourceTree) -> Iterator[TrackDefect]:
    """References to nothing, required names that are no properties, path parameters nobody declares."""
    for path, document in documents(tree).items():
        if not document:
            text, action = "the document cannot be read", "make it valid YAML or JSON"
            yield tree.defect("unreadable", text, path, 1, action=action)
        for rule, text, about, action in (*_unsound_schemas(document), *_unsound_operations(document)):
            yield defect_at(tree, path, rule, text, about, action)


def _unsound_schemas(document: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The rule, what is wrong, the word at which it stands, and what to do."""
    for node in nodes(document):
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/") and resolve(document, node) is None:
            yield "undefined-reference", f"{reference} is not defined", reference, "define it"
        required, properties = node.get("required"), node.get("properties")
        if isinstance(required, list) and isinstance(properties, dict) and "allOf" not in node:
            for name in (each for each in required if each not in properties):
                yield "required-undefined", f"{name} is required and no property", f"{name}", "define the property"


def _unsound_operations(document: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for (method, route), operation in operations(document).items():
        declared = {each.get("name") for each in parameters_of(document, route, operation)}
        for name in (each for each in re.findall(r"\{([^}]+)\}", route) if each not in declared):
            yield "parameter-undeclared", f"{method} {route}: {{{name}}} is not declared", route, "declare it"
        if not isinstance(operation.get("responses"), dict) or not operation["responses"]:
            yield "no-responses", f"{method} {route} declares no response", route, "declare its responses"


def shape(key: tuple[str, str]) -> tuple[str, str]:
    return key[0], re.sub(r"\{[^}]*\}", "{}", key[1])


def routes(tree: SourceTree) -> list[Route]:
    """The routes of FastAPI, Flask and Express that stand in the code with their whole path."""
    found: list[Route] = []
    for path in tree.product(*PYTHON):
        if re.search(r"FastAPI|APIRouter|Flask|Blueprint|@app\.", tree.text(path)):
            found += _python_routes(path, tree.text(path))
    for path in tree.product(*SCRIPTS):
        text = tree.text(path)
        for each in _SCRIPT_ROUTE.finditer(text) if re.search(r"express|fastify|koa|hono", text) else ():
            route = re.sub(r":(\w+)", r"{\1}", each[2])
            found.append(Route(each[1], route, path, text.count("\n", 0, each.start(1)) + 1))
    return found


def _python_routes(path: str, text: str) -> Iterator[Route]:
    if _PREFIX.search(text):
        return
    for each in _PYTHON_ROUTE.finditer(text):
        yield Route(each["method"], _braces(each["path"]), path, text.count("\n", 0, each.start("app")) + 1)
    for each in _FLASK_ROUTE.finditer(text):
        for method in re.findall(r"\w+", each["methods"] or "get"):
            yield Route(method.lower(), _braces(each["path"]), path, text.count("\n", 0, each.start("app")) + 1)


def _braces(path: str) -> str:
    """A path of Flask, `/a/<int:b>`, as contracts write it; FastAPI writes it so already."""
    return re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", r"{\1}", path)


def disagreements(tree: SourceTree) -> Iterator[TrackDefect]:
    """Routes the contract does not name, and operations without a route, for the framework whose routes it names."""
    every = routes(tree)
    for path, document in documents(tree).items():
        named = {shape(key): key for key in operations(document)}
        ours = [route for route in every if route.file in _documented_files(every, named)]
        built = {shape((route.method, route.path)) for route in ours}
        if not ours or not named:
            continue
        for route in ours:
            if shape((route.method, route.path)) not in named and "health" not in route.path:
                text = f"{route.method} {route.path} is a route and {path} does not name it"
                yield tree.defect("route-undocumented", text, route.file, route.line, action=f"add it to {path}")
        for same, key in named.items():
            if same not in built:
                text = f"{key[0]} {key[1]} has no route"
                yield defect_at(tree, path, "operation-unbuilt", text, key[1], "build it, or take it out")


def _documented_files(every: list[Route], named: Mapping[tuple[str, str], Any]) -> set[str]:
    """Files half of whose routes, or more, the contract names: the others belong to something else."""
    found = set()
    for file in {route.file for route in every}:
        own = [shape((route.method, route.path)) in named for route in every if route.file == file]
        if 2 * sum(own) >= len(own):
            found.add(file)
    return found


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for route, item in (document.get("paths") or {}).items():
        if isinstance(item, dict):
            for method, operation in item.items():
                if method in METHODS and isinstance(operation, dict):
                    found[method, str(route)] = operation
    return found


def parameters_of(document: dict[str, Any], route: str, operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    item = (document.get("paths") or {}).get(route) or {}
    given = [*(item.get("parameters") or ()), *(operation.get("parameters") or ())]
    return [known for each in given if isinstance(each, dict) and (known := resolve(document, each)) is not None]


def resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any] | None:
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return node
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, dict) else None
    return place if isinstance(place, dict) else None


def nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth < 40:
        for each in inner:
            yield from nodes(each, depth + 1)


def defect_at(
    tree: SourceTree, path: str, rule: str, message: str, text: str, action: str, *, after: str = "", new: bool = False
) -> TrackDefect:
    """A defect at the first line that holds a text, behind the line that names `after`; else at the first line."""
    lines = tree.text(path).replace('"', "").replace("'", "").split("\n")  # JSON is searched as YAML
    heading = re.compile(rf"\b{re.escape(after)}\b\s*:")
    start = next((number for number, line in enumerate(lines) if after and heading.search(line)), 0)
    wanted = (re.compile(rf"required.*\b{re.escape(text)}\b"), re.compile(re.escape(text)))
    found = next((n for one in wanted for n, line in enumerate(lines) if n >= start and one.search(line)), 0)
    return msgspec.structs.replace(tree.defect(rule, message, path, found + 1, action=action), new=new)
