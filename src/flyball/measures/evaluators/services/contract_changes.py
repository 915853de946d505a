"""OpenAPI documents of two trees: what would break somebody who uses the API as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import SourceTree, TrackTrees
from flyball.measures.evaluators.services.contracts import documents, located, nodes, operations, parameters_of, shape

BODY = " body"
"""What a request's body that is described in place is called, behind its operation."""


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
    was, now = operations(old), operations(new)
    for key in was:
        name = f"{key[0]} {key[1]}"
        if shape(key) not in {shape(other) for other in now}:
            yield located(
                tree,
                path,
                "operation-gone",
                f"{name} is gone",
                key[1],
                "keep it, or publish a new version of the API",
                new=True,
            )
            continue
        current = next(value for other, value in now.items() if shape(other) == shape(key))
        yield from _parameters_broken(tree, path, name, old, new, (key[1], was[key], current))
        for code in was[key].get("responses", {}):
            if str(code).startswith("2") and str(code) not in {str(each) for each in current.get("responses", {})}:
                yield located(
                    tree, path, "response-gone", f"{name} no longer answers {code}", key[1], "keep the answer", new=True
                )
    yield from _schemas_broken(tree, path, old, new)


def _parameters_broken(
    tree: SourceTree, path: str, name: str, old: dict[str, Any], new: dict[str, Any], operation: tuple[str, Any, Any]
) -> Iterator[TrackDefect]:
    route, was, now = operation
    known = {each.get("name"): each for each in parameters_of(old, route, was)}
    for each in parameters_of(new, route, now):
        if each.get("required") and not known.get(each.get("name"), {}).get("required") and each.get("in") != "path":
            text = f"{name}: {each.get('name')} is required now"
            yield located(
                tree, path, "parameter-required", text, f"name: {each.get('name')}", "make it optional", new=True
            )
    if (now.get("requestBody") or {}).get("required") and not (was.get("requestBody") or {}).get("required"):
        yield located(
            tree, path, "body-required", f"{name}: a body is required now", route, "make it optional", new=True
        )


def _schemas_broken(tree: SourceTree, path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[TrackDefect]:
    was, now = {**_schemas(old), **_in_place(old)}, {**_schemas(new), **_in_place(new)}
    asked = _request_schemas(new)
    for name in (each for each in was if each in now):
        place = name.split(" ")[1] if " " in name else name
        for rule, field, text, action in _fields_broken(
            was[name], now[name], asked=name in asked or name.endswith(BODY)
        ):
            told = f"{name}: {field} {text}" if " " in name else f"{name}.{field} {text}"
            found = f"{field}:" if rule == "field-type" and place == name else place
            yield located(tree, path, rule, told, found, action, after=name if found != place else "", new=True)


def _fields_broken(was: dict[str, Any], now: dict[str, Any], *, asked: bool) -> Iterator[tuple[str, str, str, str]]:
    """The rule, the field, what happened to it, and what to do; `asked` where callers send it."""
    before, after = was.get("properties") or {}, now.get("properties") or {}
    for field, kind in before.items():
        if field not in after:
            yield "field-gone", field, "is gone", "keep the field"
        elif isinstance(kind, dict) and isinstance(after[field], dict) and kind.get("type") != after[field].get("type"):
            text = f"was {kind.get('type')} and is {after[field].get('type')}"
            yield "field-type", field, text, "keep the type"
    for field in now.get("required") or () if asked else ():
        if field in after and field not in (was.get("required") or ()):
            yield "field-required", field, "is required now", "make it optional"


def _in_place(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The objects that operations describe where they use them, by operation and status or body; of a list what is in it."""
    found = {}
    for (method, route), operation in operations(document).items():
        described = {f"{method} {route}{BODY}": operation.get("requestBody")}
        described |= {
            f"{method} {route} {code}": answer
            for code, answer in (operation.get("responses") or {}).items()
            if str(code).startswith("2")
        }
        for name, each in described.items():
            for content in nodes((each or {}).get("content")):
                schema = content.get("schema")
                inner = schema.get("items", schema) if isinstance(schema, dict) else None
                if isinstance(inner, dict) and inner.get("properties"):
                    found[name] = inner
    return found


def _request_schemas(document: dict[str, Any]) -> set[str]:
    bodies = (operation.get("requestBody") for operation in operations(document).values())
    return {
        ref.rpartition("/")[2] for body in bodies for node in nodes(body) if isinstance(ref := node.get("$ref"), str)
    }


def _schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    components = (document.get("components") or {}).get("schemas") or document.get("definitions") or {}
    return {name: schema for name, schema in components.items() if isinstance(schema, dict)}
