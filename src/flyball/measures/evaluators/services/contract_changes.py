"""OpenAPI documents of two trees: what would break somebody who uses the API as it was."""

from collections.abc import Iterator
from typing import Any

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import TrackTrees
from flyball.measures.evaluators.services.contracts import defect_at, documents, nodes, operations, parameters_of, shape

BODY = " body"
"""What a request's body that is described in place is called, behind its operation."""
Break = tuple[str, str, str, str, str]
"""A rule, what is broken, the word at which it stands, what to do, and the heading behind which that word is looked for."""


def breaking_changes(trees: TrackTrees) -> Iterator[TrackDefect]:
    before, moved = documents(trees.base), trees.changes.moved
    for path, new in documents(trees.head).items():
        old = before.get(moved.get(path, path))
        if old and old != new:
            for rule, text, place, action, after in (*_broken_operations(old, new), *_broken_schemas(old, new)):
                yield defect_at(trees.head, path, rule, text, place, action, after=after, new=True)
    for path in sorted(set(before) - {moved.get(path, path) for path in documents(trees.head)}):
        yield TrackDefect("contract-gone", f"{path} is gone", path, action="keep it", new=True)


def _broken_operations(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Break]:
    by_shape = {shape(key): operation for key, operation in reversed(operations(new).items())}
    for (method, route), was in operations(old).items():
        name, now = f"{method} {route}", by_shape.get(shape((method, route)))
        if now is None:
            yield "operation-gone", f"{name} is gone", route, "keep it, or publish a new version of the API", ""
            continue
        known = {each.get("name"): each.get("required") for each in parameters_of(old, route, was)}
        for each in parameters_of(new, route, now):
            given = each.get("name")
            if each.get("required") and not known.get(given) and each.get("in") != "path":
                yield "parameter-required", f"{name}: {given} is required now", f"name: {given}", "make it optional", ""
        if (now.get("requestBody") or {}).get("required") and not (was.get("requestBody") or {}).get("required"):
            yield "body-required", f"{name}: a body is required now", route, "make it optional", ""
        answers = {str(code) for code in now.get("responses", {})}
        for code in was.get("responses", {}):
            if str(code).startswith("2") and str(code) not in answers:
                yield "response-gone", f"{name} no longer answers {code}", route, "keep the answer", ""


def _broken_schemas(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Break]:
    was, now = {**_schemas(old), **_in_place(old)}, {**_schemas(new), **_in_place(new)}
    bodies = (operation.get("requestBody") for operation in operations(new).values())
    references = (node.get("$ref") for body in bodies for node in nodes(body))
    sent = {reference.rpartition("/")[2] for reference in references if isinstance(reference, str)}
    for name in (each for each in was if each in now):
        place = name.split(" ")[1] if " " in name else name
        asked = name in sent or name.endswith(BODY)
        for rule, field, text, action in _broken_fields(was[name], now[name], asked=asked):
            told = f"{name}: {field} {text}" if " " in name else f"{name}.{field} {text}"
            found = f"{field}:" if rule == "field-type" and place == name else place
            yield rule, told, found, action, name if found != place else ""


def _broken_fields(was: dict[str, Any], now: dict[str, Any], *, asked: bool) -> Iterator[tuple[str, str, str, str]]:
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


def _schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    components = (document.get("components") or {}).get("schemas") or document.get("definitions") or {}
    return {name: schema for name, schema in components.items() if isinstance(schema, dict)}
