"""OpenAPI documents: whether they are sound, agree with the routes of the code, and break nobody who uses them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import yaml

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree, TrackTrees

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
_DOCUMENT = re.compile(r"^\s*[\"']?(?:openapi|swagger)[\"']?\s*:", re.MULTILINE)
_PYTHON_ROUTE = re.compile(
    r"^\s*@(?P<app>\w+)\.(?P<method>get|post|put|patch|delete)\(\s*[\"'](?P<path>/[^\"']*)[\"']", re.MULTILINE
)
_FLASK_ROUTE = re.compile(
    r"^\s*@(?P<app>\w+)\.route\(\s*[\"'](?P<path>/[^\"']*)[\"'](?:[^)]*methods\s*=\s*\[(?P<methods>[^\]]*)\])?",
    re.MULTILINE,
)
_PREFIX = re.compile(
    r"APIRouter\([^)]*prefix\s*=|include_router\([^)]*prefix\s*=|Blueprint\([^)]*url_prefix\s*=|root_path\s*="
)


class Route(msgspec.Struct, frozen=True):
    """A route as it stands in the code."""

    method: str
    path: str
    file: str
    line: int


def documents(tree: SourceTree) -> dict[str, dict[str, Any]]:
    """The OpenAPI documents of a tree by their paths."""
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


def unsound(tree: SourceTree) -> list[TrackDefect]:
    """References to nothing, required names that are no properties, path parameters nobody declares."""
    found = []
    for path, document in documents(tree).items():
        if not document:
            found.append(
                tree.defect("unreadable", "the document cannot be read", path, 1, action="make it valid YAML or JSON")
            )
        found += list(_unsound(tree, path, document))
    return found


def _unsound(tree: SourceTree, path: str, document: dict[str, Any]) -> Iterator[TrackDefect]:
    for node in _nodes(document):
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/") and _resolved(document, node) is None:
            yield _at(tree, path, "undefined-reference", f"{reference} is not defined", reference, "define it")
        required, properties = node.get("required"), node.get("properties")
        if isinstance(required, list) and isinstance(properties, dict) and "allOf" not in node:
            for name in required:
                if name not in properties:
                    yield _at(
                        tree,
                        path,
                        "required-undefined",
                        f"{name} is required and no property",
                        f"{name}",
                        "define the property",
                    )
    for (method, route), operation in _operations(document).items():
        declared = {each.get("name") for each in _parameters(document, route, operation)}
        for name in re.findall(r"\{([^}]+)\}", route):
            if name not in declared:
                yield _at(
                    tree,
                    path,
                    "parameter-undeclared",
                    f"{method} {route}: {{{name}}} is not declared",
                    route,
                    "declare it",
                )
        if not isinstance(operation.get("responses"), dict) or not operation["responses"]:
            yield _at(
                tree, path, "no-responses", f"{method} {route} declares no response", route, "declare its responses"
            )


def breaking(trees: TrackTrees) -> list[TrackDefect]:
    """What somebody who uses the API as it was would stumble over."""
    before = documents(trees.base)
    found: list[TrackDefect] = []
    for path, new in documents(trees.head).items():
        old = before.get(trees.changes.moved.get(path, path))
        if old and old != new:
            found += _breaking(trees.head, path, old, new)
    gone = set(before) - {trees.changes.moved.get(path, path) for path in documents(trees.head)}
    found += [
        TrackDefect("contract-gone", f"{path} is gone", path, action="keep it", new=True) for path in sorted(gone)
    ]
    return found


def _breaking(tree: SourceTree, path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[TrackDefect]:
    was, now = _operations(old), _operations(new)
    for key in was:
        name = f"{key[0]} {key[1]}"
        if _same(key) not in {_same(other) for other in now}:
            yield _at(
                tree,
                path,
                "operation-gone",
                f"{name} is gone",
                key[1],
                "keep it, or publish a new version of the API",
                new=True,
            )
            continue
        current = next(value for other, value in now.items() if _same(other) == _same(key))
        yield from _parameters_broken(tree, path, name, old, new, (key[1], was[key], current))
        for code in was[key].get("responses", {}):
            if str(code).startswith("2") and str(code) not in {str(each) for each in current.get("responses", {})}:
                yield _at(
                    tree, path, "response-gone", f"{name} no longer answers {code}", key[1], "keep the answer", new=True
                )
    yield from _schemas_broken(tree, path, old, new)


def _same(key: tuple[str, str]) -> tuple[str, str]:
    return key[0], re.sub(r"\{[^}]*\}", "{}", key[1])


def _parameters_broken(
    tree: SourceTree, path: str, name: str, old: dict[str, Any], new: dict[str, Any], operation: tuple[str, Any, Any]
) -> Iterator[TrackDefect]:
    route, was, now = operation
    known = {each.get("name"): each for each in _parameters(old, route, was)}
    for each in _parameters(new, route, now):
        if each.get("required") and not known.get(each.get("name"), {}).get("required") and each.get("in") != "path":
            text = f"{name}: {each.get('name')} is required now"
            yield _at(tree, path, "parameter-required", text, f"name: {each.get('name')}", "make it optional", new=True)
    if (now.get("requestBody") or {}).get("required") and not (was.get("requestBody") or {}).get("required"):
        yield _at(tree, path, "body-required", f"{name}: a body is required now", route, "make it optional", new=True)


def _schemas_broken(tree: SourceTree, path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[TrackDefect]:
    was, now = _schemas(old), _schemas(new)
    for name, schema in was.items():
        if name not in now:
            continue
        before, after = schema.get("properties") or {}, now[name].get("properties") or {}
        for field, kind in before.items():
            if field not in after:
                yield _at(tree, path, "field-gone", f"{name}.{field} is gone", name, "keep the field", new=True)
            elif (
                isinstance(kind, dict)
                and isinstance(after[field], dict)
                and kind.get("type") != after[field].get("type")
            ):
                text = f"{name}.{field} was {kind.get('type')} and is {after[field].get('type')}"
                yield _at(tree, path, "field-type", text, f"{field}:", "keep the type", after=name, new=True)
        for field in now[name].get("required") or ():
            if field in after and field not in (schema.get("required") or ()) and name in _request_schemas(new):
                yield _at(
                    tree, path, "field-required", f"{name}.{field} is required now", name, "make it optional", new=True
                )


def _request_schemas(document: dict[str, Any]) -> set[str]:
    bodies = (operation.get("requestBody") for operation in _operations(document).values())
    return {
        ref.rpartition("/")[2] for body in bodies for node in _nodes(body) if isinstance(ref := node.get("$ref"), str)
    }


def routes(tree: SourceTree) -> list[Route]:
    """The routes of FastAPI, Flask and Express that stand in the code with their whole path."""
    found = []
    for path in tree.product(*PYTHON):
        text = tree.text(path)
        if "FastAPI" in text or "APIRouter" in text or "Flask" in text or "Blueprint" in text or "@app." in text:
            found += list(_python_routes(path, text))
    for path in tree.product(*SCRIPTS):
        if re.search(r"express|fastify|koa|hono", tree.text(path)):
            found += list(_script_routes(path, tree.text(path)))
    return found


def _python_routes(path: str, text: str) -> Iterator[Route]:
    if _PREFIX.search(text):
        return
    for each in _PYTHON_ROUTE.finditer(text):
        yield Route(each["method"], _braces(each["path"]), path, text.count("\n", 0, each.start("app")) + 1)
    for each in _FLASK_ROUTE.finditer(text):
        for method in re.findall(r"\w+", each["methods"] or "get"):
            yield Route(method.lower(), _braces(each["path"]), path, text.count("\n", 0, each.start("app")) + 1)


def _script_routes(path: str, text: str) -> Iterator[Route]:
    pattern = re.compile(
        r"^\s*(?:app|router|server)\.(get|post|put|patch|delete)\(\s*[\"'`](/[^\"'`$]*)[\"'`]", re.MULTILINE
    )
    for each in pattern.finditer(text):
        yield Route(each[1], re.sub(r":(\w+)", r"{\1}", each[2]), path, text.count("\n", 0, each.start(1)) + 1)


def _braces(path: str) -> str:
    """A path of Flask, `/a/<int:b>`, as contracts write it; FastAPI writes it so already."""
    return re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", r"{\1}", path)


def disagreements(tree: SourceTree) -> list[TrackDefect]:
    """Routes the contract does not name, and operations without a route, for the framework whose routes it names."""
    every = routes(tree)
    found: list[TrackDefect] = []
    for path, document in documents(tree).items():
        named = {_same(key): key for key in _operations(document)}
        ours = [route for route in every if route.file in _told_of(every, named)]
        built = {_same((route.method, route.path)) for route in ours}
        if not ours or not named:
            continue
        for route in ours:
            if _same((route.method, route.path)) not in named and "health" not in route.path:
                text = f"{route.method} {route.path} is a route and {path} does not name it"
                found.append(
                    tree.defect("route-undocumented", text, route.file, route.line, action=f"add it to {path}")
                )
        for same, key in named.items():
            if same not in built:
                text = f"{key[0]} {key[1]} has no route"
                found.append(_at(tree, path, "operation-unbuilt", text, key[1], "build it, or take it out"))
    return found


def _told_of(every: list[Route], named: Mapping[tuple[str, str], Any]) -> set[str]:
    """Files half of whose routes, or more, the contract names: the others belong to something else."""
    files = {route.file for route in every}
    found = set()
    for file in files:
        own = [_same((route.method, route.path)) in named for route in every if route.file == file]
        if 2 * sum(own) >= len(own):
            found.add(file)
    return found


def _operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for route, item in (document.get("paths") or {}).items():
        if isinstance(item, dict):
            for method, operation in item.items():
                if method in METHODS and isinstance(operation, dict):
                    found[method, str(route)] = operation
    return found


def _parameters(document: dict[str, Any], route: str, operation: Mapping[str, Any]) -> list[dict[str, Any]]:
    item = (document.get("paths") or {}).get(route) or {}
    given = [*(item.get("parameters") or ()), *(operation.get("parameters") or ())]
    return [known for each in given if isinstance(each, dict) and (known := _resolved(document, each)) is not None]


def _resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any] | None:
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return node
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, dict) else None
    return place if isinstance(place, dict) else None


def _schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    components = (document.get("components") or {}).get("schemas") or document.get("definitions") or {}
    return {name: schema for name, schema in components.items() if isinstance(schema, dict)}


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if depth < 40:
        for each in inner:
            yield from _nodes(each, depth + 1)


def _at(
    tree: SourceTree, path: str, rule: str, message: str, text: str, action: str, *, after: str = "", new: bool = False
) -> TrackDefect:
    """A defect at the first line that holds a text, behind the line that names `after`; else at the first line."""
    lines = tree.text(path).replace('"', "").replace("'", "").split("\n")  # JSON is searched as YAML
    start = next(
        (number for number, line in enumerate(lines) if after and re.search(rf"\b{re.escape(after)}\b\s*:", line)), 0
    )
    wanted = (re.compile(rf"required.*\b{re.escape(text)}\b"), re.compile(re.escape(text)))
    found = next((n for one in wanted for n, line in enumerate(lines) if n >= start and one.search(line)), 0)
    return msgspec.structs.replace(tree.defect(rule, message, path, found + 1, action=action), new=new)
