"""What the code reads from its environment, against `.env.example`; and secrets that stand in the tree."""

import re
from collections.abc import Iterator

from flyball.core.evaluation.findings import TrackDefect
from flyball.measures.evaluators.ground import PYTHON, SCRIPTS, SourceTree
from flyball.measures.evaluators.sources.syntax import Syntax, lines_of
from flyball.measures.evaluators.toolbox import AT_ONCE, Toolbox
from flyball.measures.sources import looks_like_test

_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "env.example")
_KNOWN = frozenset(
    """HOME PATH PWD USER LOGNAME SHELL TERM LANG LC_ALL TZ TMPDIR TEMP TMP CI NODE_ENV MODE DEV PROD SSR BASE_URL EDITOR PAGER
    PYTHONPATH VIRTUAL_ENV NO_COLOR FORCE_COLOR COLUMNS LINES LESS COMP_WORDS COMP_CWORD COMP_LINE COMP_POINT HOSTNAME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME APPDATA
    npm_package_version npm_config_user_agent""".split()
)
_NAME = r"[\"']([A-Za-z_][A-Za-z0-9_]*)[\"']"
_PYTHON_READS = re.compile(rf"os\.environ\[{_NAME}\]|environ\.get\(\s*{_NAME}|environ\.setdefault\(\s*{_NAME}|environ\.pop\(\s*{_NAME}|getenv\(\s*{_NAME}|environ\[{_NAME}\]")  # fmt: skip
_SCRIPT_READS = re.compile(rf"(?:process|import\.meta)\.env\.([A-Za-z_]\w*)|(?:process|import\.meta)\.env\[{_NAME}\]|Deno\.env\.get\(\s*{_NAME}")  # fmt: skip
_ENV = r"^(process|import\.meta)\.env$"
_DESTRUCTURED = {
    "any": [
        {"kind": "variable_declarator", "has": {"field": "value", "regex": _ENV}},
        {"kind": "assignment_expression", "has": {"field": "right", "regex": _ENV}},
    ]
}
_TAKEN = {"object_assignment_pattern": "left", "pair_pattern": "key", "shorthand_property_identifier_pattern": ""}
"""How a pattern takes a name out of an object, and which part of it is the name."""
_SECRET_LINE = re.compile(
    r"^\s*(?:export\s+)?(?P<name>\w*(?:SECRET|TOKEN|PASSW(?:OR)?D|PASSPHRASE|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|SIGNING_?KEY|_KEY|CREDENTIALS?|DSN))\s*=\s*[\"']?(?P<value>[^\s\"'#]{6,})"
    r"|^\s*(?:export\s+)?(?P<name_of_url>\w+)\s*=\s*[\"']?(?P<url>\w[\w+.-]*://[^\s:/@]*:[^\s@/]+@\S+)",
    re.IGNORECASE,
)
_OWN_VARIABLES = re.compile(r"(?:^|/)\.env(?:\.(?!example|sample|template|dist|test)[\w.-]+)?$")
_PLACEHOLDER = re.compile(
    r"example|change.?me|your|xxx|dummy|placeholder|localhost|127\.0\.0\.1|^[<$%{]", re.IGNORECASE
)


def unnamed_variables(syntax: Syntax, tree: SourceTree) -> Iterator[TrackDefect]:
    """Variables the code reads and the example does not name; none where there is no example and nothing is read."""
    named = {name for example in examples(tree) for name in re.findall(r"^\s*#?\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", tree.text(example), re.MULTILINE)}  # fmt: skip
    for path in tree.product(*PYTHON, *SCRIPTS):
        for line, name in _reads(syntax, tree, path):
            if name not in named and name not in _KNOWN:
                text = f"{name} is read and .env.example does not name it"
                yield tree.defect("env-undocumented", text, path, line, action=f"add {name}= to .env.example")


def examples(tree: SourceTree) -> tuple[str, ...]:
    return tuple(path for path in tree.files if path.rpartition("/")[2] in _EXAMPLES)


def wants_example(tree: SourceTree) -> bool:
    """Whether a project loads its variables from a file, so that somebody must be told which there are."""
    manifests = ("pyproject.toml", "requirements.txt", "package.json")
    named = any(re.search(r"dotenv|pydantic-settings|django-environ|decouple", tree.text(path)) for path in manifests)
    return named or any("import.meta.env" in tree.text(path) for path in tree.product(*SCRIPTS))


def _reads(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[tuple[int, str]]:
    text = tree.text(path)
    if "env" not in text.lower():
        return
    comments: set[int] = set()
    for node in syntax.find(tree, path, {"kind": "comment"}):
        first, last = lines_of(node)
        if tree.line(path, first).lstrip().startswith(("#", "//", "/*")):
            comments.update(range(first, last + 1))
    for each in (_PYTHON_READS if path.endswith(PYTHON) else _SCRIPT_READS).finditer(text):
        line = text.count("\n", 0, each.start()) + 1
        if line not in comments:
            yield line, next(group for group in each.groups() if group)
    if not path.endswith(PYTHON):
        yield from _destructured_names(syntax, tree, path)


def _destructured_names(syntax: Syntax, tree: SourceTree, path: str) -> Iterator[tuple[int, str]]:
    """The names that a pattern takes out of the environment; what they are called here and fall back to is no name of it."""
    for node in syntax.find(tree, path, _DESTRUCTURED):
        pattern = node.field("name") or node.field("left")
        for each in pattern.children():
            if each.kind() in _TAKEN:
                part = each.field(_TAKEN[each.kind()]) if _TAKEN[each.kind()] else each
                yield lines_of(each)[0], part.text().strip("\"'")


def secrets(toolbox: Toolbox, syntax: Syntax, tree: SourceTree) -> list[TrackDefect]:
    files = [
        path for path in tree.files if not looks_like_test(path) and not path.endswith((".lock", "package-lock.json"))
    ]
    found = list(_kingfisher(toolbox, tree, files))
    lines = {(each.file, each.line) for each in found}
    own = [*committed_secrets(tree), *syntax.defects(tree, "environment")]
    return found + [each for each in own if (each.file, each.line) not in lines]


def committed_secrets(tree: SourceTree) -> Iterator[TrackDefect]:
    """Secrets in a file of variables that belongs on one machine and not into the history."""
    for path in filter(_OWN_VARIABLES.search, tree.files):
        for number, line in enumerate(tree.text(path).split("\n"), start=1):
            given = _SECRET_LINE.match(line)
            if given and not _PLACEHOLDER.search(given["value"] or given["url"]):
                text = f"{given['name'] or given['name_of_url']} stands in {path}, which is committed"
                action = "take the file out, ignore it, and change the secret, for history keeps it"
                yield tree.defect("env-committed", text, path, number, action=action)


def _kingfisher(toolbox: Toolbox, tree: SourceTree, files: list[str]) -> Iterator[TrackDefect]:
    report = toolbox.folder("kingfisher-report") / "report.json"
    options = ("--git-history", "none", "--no-validate", "--no-update-check", "--no-ignore", "--confidence", "medium", "--redact", "-q", "--format", "json", "-o", str(report))  # fmt: skip
    cache = ("--rule-cache-dir", str(toolbox.cache / "kingfisher"))
    for start in range(0, len(files), AT_ONCE):
        report.unlink(missing_ok=True)
        arguments = ["scan", *files[start : start + AT_ONCE], *options, *cache]
        toolbox.run("kingfisher", arguments, cwd=tree.root, codes=(0, 200, 205))
        said = toolbox.json("kingfisher", report.read_bytes()) if report.is_file() else {}
        for each in said.get("findings", ()):
            finding, rule = each["finding"], each["rule"]
            path = str(finding["path"]).removeprefix(f"{tree.root.resolve()}/").removeprefix(f"{tree.root}/")
            text = f"a secret stands here: {rule['name']}"
            action = "read it from the environment, and change the secret, for history keeps it"
            line = int(finding["line"])
            yield tree.defect(f"kingfisher/{rule['id']}", text, path.removeprefix("./"), line, action=action)
