"""The one reader of commands: which files a shell text executes, sources or is configured by; what it merely names is an input."""

import posixpath
import re
from collections.abc import Generator, Iterator
from itertools import dropwhile

from flyball.measures.tampering.shell_text import commands

_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_BEFORE = re.compile(r"exec|nohup|command|then|do|else|elif|if|while|until|!|run|npx|bunx|uvx|dlx|x|\{|@+|-@?|eval")
"""Words that another command follows."""
_LAUNCHES = re.compile(r"time|timeout|env|nice|ionice|sudo|xargs|stdbuf|setsid|flock|taskset|chrt|xvfb-run|unbuffer")
"""Programs that another command follows, after options of their own."""
_OF_LAUNCHER = re.compile(r"-.*|[0-9][\w.,:-]*|[A-Z_][A-Z0-9_]*|\{\}")
_LEADS = re.compile(r"(?:uv|poetry|pdm|hatch|pipenv|rye|pnpm|yarn|bun|npm) (?:run|exec|x|dlx)")
_INTERPRETER = re.compile(
    r"(?:python|pypy)[0-9.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|Rscript|(?:ba|da|k|z)?sh|\$\w*(?:PY|NODE|SH)\w*"
)
_SHELL = re.compile(r"(?:ba|da|k|z)?sh")
_WITH_VALUE = frozenset({"-W", "-X", "-I", "--conditions", "-C", "-o", "--test-reporter"})
_CODE = frozenset({"-c", "-e", "-p", "-pe", "-ne", "-E", "-r", "--eval", "--print"})
"""Options that a program follows as text; `-r` is one of php's and loads a file for others."""
_LOADS = re.compile(r"-r|--require|--import|--(?:experimental-)?loader|-f|--(?:make)?file|--env-file")
_CONFIGURES = re.compile(
    r"-c|-f|-p|--?[\w-]*(?:conf|config|rc|rcfile|ini|setup|require|import|loader|plugins?|file|project|preset|env)[\w-]*"
)
_ASKS = frozenset({"test", "[", "[["})
"""Their options ask about files, and configure nothing."""
_SETTINGS = re.compile(r".*\.(?:ini|cfg|toml|conf|rc|mk|env)|@.+")
_SCRIPT = re.compile(r".*\.(?:sh|bash|zsh)")
_MODULE = re.compile(r"-[a-zA-Z]*m(.*)")
_IMPORTS_OF_PYTHON = re.compile(r"(?:^|[;\n])\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))")
_IMPORTS_OF_SCRIPTS = re.compile(r"""(?:require|import)\s*\(?\s*["']([^"']+)["']""")

Reference = tuple[str, str]
"""How a text refers to something, and to what.

It `executes` or `configures` it, it `loads` it into a program, it `examines` what it prints, or `module` is what is imported or run.
Of a program that stands in it, as `python -c` has one, the text is given, by its language.
"""
CODE = frozenset({"python", "script"})


def references(text: str) -> Iterator[Reference]:
    folder = ""
    for command in commands(text):
        words = [word.lstrip("@") if at == 0 else word for at, word in enumerate(command.words)]
        if "cd" in words[:-1]:
            folder = posixpath.join(folder, words[words.index("cd") + 1])
        for how, what in _of_command(words, examined=command.examined):
            yield how, what
            if folder and how not in CODE and not what.startswith(("/", "$")):
                yield how, posixpath.join(folder, what)


def _of_command(words: list[str], *, examined: bool) -> Iterator[Reference]:
    words = [word for word in words if word]
    while words and (
        _ASSIGNED.fullmatch(words[0])
        or _BEFORE.fullmatch(words[0])
        or _LAUNCHES.fullmatch(words[0])
        or _LEADS.fullmatch(" ".join(words[:2]))
    ):
        if _LAUNCHES.fullmatch(words[0]):
            words = ["", *dropwhile(_OF_LAUNCHER.fullmatch, words[1:])]
        elif _LEADS.fullmatch(" ".join(words[:2])):
            yield "executes", words[0]
        examined = examined or words[0] == "!"
        if assigned := _ASSIGNED.fullmatch(words[0]):
            yield from (("configures", each) for each in re.split(r"[\s:=,]+", assigned[2]) if each)
        words = words[1:]
    if not words:
        return
    program, rest = words[0], words[1:]
    name = program.rpartition("/")[2]
    if name in {".", "source"}:
        yield from (("loads", each) for each in rest[:1])
        return
    runs = "examines" if examined else "executes"
    yield runs, program
    if _INTERPRETER.fullmatch(name):
        rest = yield from _of_interpreter(rest, name, runs)
    if name not in _ASKS:
        yield from _settings_among(rest)


def _of_interpreter(words: list[str], program: str, runs: str) -> Generator[Reference, None, list[str]]:
    """The program an interpreter is given, and the rest of the words, which are that program's own."""
    shell = _SHELL.fullmatch(program) is not None
    at = 0
    while at < len(words):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        if not word.startswith("-"):
            yield runs, word if "/" in word else f"./{word}"
            return words[at + 1 :]
        option, _, given = word.partition("=")
        if _LOADS.fullmatch(option) and program != "php" and not shell:
            yield "loads", given or value
            at += 0 if given else 1
        elif not shell and not program.startswith("py") and re.match(r"-r[./\w]", word):
            yield "loads", word[2:]
        elif not shell and (module := _MODULE.fullmatch(word)):
            yield "module", module[1] or value
            return words[at + (1 if module[1] else 2) :]
        elif (shell and re.fullmatch(r"-[a-z]*c", word)) or (not shell and word in _CODE):
            yield from references(value) if shell else _in_code(value, program)
            return words[at + 2 :] if not shell else []
        elif word in ({"-o", "-O"} if shell else _WITH_VALUE):
            at += 1
        at += 1
    return []


def _in_code(text: str, program: str) -> Iterator[Reference]:
    """What a program that stands in a command itself imports, and its text."""
    for origin, names in _IMPORTS_OF_PYTHON.findall(text):
        yield from (("module", each.split()[0]) for each in (origin or names).split(",") if each.strip())
    yield from (("executes", each) for each in _IMPORTS_OF_SCRIPTS.findall(text))
    yield "python" if program.startswith("py") else "script", text


def _settings_among(words: list[str]) -> Iterator[Reference]:
    before = ""
    for word in words:
        option, _, given = word.partition("=")
        if word.startswith("-") and given:
            yield from (("configures", each) for each in given.split(",") if _CONFIGURES.fullmatch(option))
        elif not word.startswith("-") and (_CONFIGURES.fullmatch(before) or _SETTINGS.fullmatch(word)):
            yield "configures", word.lstrip("@")
        elif re.match(r"-[cfp].", word) and not word.startswith("--"):
            yield "configures", word[2:]
        elif _SCRIPT.fullmatch(word):
            yield "examines", word
        before = word
