"""Who may call a route: guards that routes name, in FastAPI, Flask and Express."""

import re
from collections.abc import Iterator

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SourceTree
from flyball.measures.evaluators.services import contracts

_GUARD = re.compile(
    r"Security\(|login_?required|permission|require|authenticat|authori[sz]|\bauth\w*|jwt|protect|guard|ensure|verif|current_?user|signed_?in|logged_?in"
    r"|is_?(?:admin|owner|staff|user)\b|(?:\b|_)only_?\w|admin_?only|must_?be|restrict|allow_?(?:roles?|only)|staff|roles?\b|check_?(?:session|token|user)|api_?key",
    re.IGNORECASE,
)
_DEPENDS = re.compile(r"\b(?:Depends|Security)\(\s*([\w.]+)")
_ALIAS = re.compile(
    r"^(\w+)\s*(?::\s*TypeAlias\s*)?=\s*Annotated\[(?:.|\n[ \t])*?\b(?:Depends|Security)\(\s*([\w.]+)", re.MULTILINE
)
_FUNCTION = re.compile(r"^(?:async )?def (\w+)\(.*?(?=^[^\s)]|\Z)", re.MULTILINE | re.DOTALL)
_TURNS_AWAY = re.compile(r"\b40[13]\b|_40[13]_|Unauthori[sz]ed|Forbidden|PermissionDenied")
_PUBLIC = re.compile(r"login|signin|sign-in|signup|register|token|webhook|callback|logout|health", re.IGNORECASE)


def unguarded_routes(tree: SourceTree) -> Iterator[TrackDefect]:
    """Routes that change data and name no guard, in a file where others do."""
    own, guarded = _own_guards(tree), dict[contracts.Route, bool]()
    for route in contracts.routes(tree):
        words = _words(tree, route)
        guarded[route] = bool(_GUARD.search(words)) or not own.isdisjoint(re.findall(r"\w+", words))
    for route, has_guard in guarded.items():
        beside = any(known for other, known in guarded.items() if other.file == route.file)
        whole = re.search(r"\b(?:app|router)\.use\([^)]*(?:auth|guard|protect|require)|before_request|add_middleware\(\s*\w*Auth", tree.text(route.file), re.IGNORECASE)  # fmt: skip
        if route.method != "get" and not has_guard and beside and not whole and not _PUBLIC.search(route.path):
            text = f"{route.method} {route.path} changes data and names no guard, as others here do"
            action = "guard it, or say that it is public"
            yield tree.defect("unguarded-route", text, route.file, route.line, action=action)


def _own_guards(tree: SourceTree) -> frozenset[str]:
    """Dependencies of FastAPI that turn callers away, and the names their types are given with Annotated."""
    texts = [text for path in tree.product(*PYTHON) if _DEPENDS.search(text := tree.text(path))]
    wanted = {name.rpartition(".")[2] for text in texts for name in _DEPENDS.findall(text)}
    bodies = (each for path in tree.product(*PYTHON) for each in _FUNCTION.finditer(tree.text(path))) if wanted else ()
    turning = {each[1] for each in bodies if each[1] in wanted and _TURNS_AWAY.search(each[0])}
    turning |= {name for name in wanted if _GUARD.search(name)}
    aliases = {alias for text in texts for alias, name in _ALIAS.findall(text) if name.rpartition(".")[2] in turning}
    return frozenset(turning | aliases)


def _words(tree: SourceTree, route: contracts.Route) -> str:
    """The route's decorators and signature, or the arguments before its last function, without its path."""
    lines = tree.text(route.file).split("\n")
    first = route.line - 1
    while route.file.endswith(".py") and first > 0 and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    last = r"\)\s*(?:->.*)?:\s*$" if route.file.endswith(".py") else r"=>|\bfunction\b|\);?\s*$"
    taken: list[str] = []
    for line in lines[first : first + 12]:
        taken.append(line)
        if re.search(last, line):
            break
    text = re.sub(r"([\"'`])/.*?\1", "", "\n".join(taken))
    return text if route.file.endswith(".py") else re.split(r"=>|\bfunction\b", text)[0]
