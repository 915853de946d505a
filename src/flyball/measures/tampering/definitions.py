"""What a Python module calls by which name: the statements that define a name, compared between two versions."""

import ast
from collections.abc import Iterable, Iterator, Mapping

from flyball.core.model.measurement import Trick
from flyball.measures.sources import Defined, Function
from flyball.measures.tampering.weakening import CHANGED, compare_function

Definitions = Mapping[str, tuple[ast.stmt, ...]]


def definitions(module: ast.Module | None) -> Definitions:
    """The statements at a module's top that give each name its meaning, in their order."""
    found: dict[str, tuple[ast.stmt, ...]] = {}
    for node in module.body if module else ():
        for name in dict.fromkeys(_bound_names(node)):
            found[name] = (*found.get(name, ()), node)
    return found


def _bound_names(node: ast.stmt) -> Iterator[str]:
    inside = [node] if isinstance(node, Defined) else ast.walk(node)
    for each in inside:
        if isinstance(each, Defined):
            yield each.name
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).partition(".")[0]


def used_by(names: Iterable[str], defined: Definitions) -> frozenset[str]:
    """Those names and every other one of the module that their definitions use, however indirectly."""
    waiting, found = set(names), set[str]()
    while waiting:
        name = waiting.pop()
        found.add(name)
        nodes = (each for statement in defined[name] for each in ast.walk(statement))
        used = {each.id for each in nodes if isinstance(each, ast.Name) and each.id in defined}
        waiting |= used - found
    return frozenset(found)


def is_same(name: str, old: Definitions, new: Definitions) -> bool:
    """Whether a name still means what it meant."""
    return [ast.dump(each) for each in old[name]] == [ast.dump(each) for each in new.get(name, ())]


def compare(path: str, name: str, old: Definitions, new: Definitions, *, rewritable: bool) -> Trick | None:
    """What became of one definition that tests rest on; a `rewritable` one may be changed if it asks for as much."""
    if is_same(name, old, new):
        return None
    if name not in new:
        return Trick("test-deleted", path, f"{name} is gone")
    before, after = _functions(name, old), _functions(name, new)
    if gone := sorted(set(before) - set(after)):
        return Trick("test-deleted", path, f"{gone[0]} is gone")
    tricks = (compare_function(path, each, node, after[each]) for each, node in before.items())
    found = [trick for trick in tricks if trick] or [Trick("test-weakened", path, f"{name}: {CHANGED}")]
    return next((trick for trick in found if not (rewritable and trick.detail.endswith(CHANGED))), None)


def _functions(name: str, defined: Definitions) -> dict[str, Function]:
    """The function of that name, or those of the class: of more than one the last is what is called."""
    found: dict[str, Function] = {}
    for node in defined[name]:
        if isinstance(node, ast.ClassDef):
            found |= {f"{name}.{each.name}": each for each in node.body if isinstance(each, Function)}
        elif isinstance(node, Function):
            found[name] = node
    return found
