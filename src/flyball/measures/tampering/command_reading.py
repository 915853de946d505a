"""The one reader of commands: which files a shell text executes, sources or is configured by; what it merely names is an input."""

import posixpath
import re
from collections.abc import Generator, Iterator
from itertools import dropwhile

_PARTS = re.compile(r"&&|\|\||[;|\n]|\$\(|`")
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_BEFORE = re.compile(r"exec|nohup|command|then|do|else|elif|if|while|until|!|run|npx|bunx|uvx|dlx|x|\{|\(|@+|-@?")
"""Words that another command follows."""
_LAUNCHES = re.compile(r"time|timeout|env|nice|ionice|sudo|xargs|stdbuf|setsid|flock|taskset|chrt|xvfb-run|unbuffer")
"""Programs that another command follows, after options of their own."""
_OF_LAUNCHER = re.compile(r"-.*|[0-9][\w.,:-]*|[A-Z_][A-Z0-9_]*|\{\}")
_SET = re.compile(r"^\s*(?:export\s+)?(\w+)\s*[:?]{0,2}=\s*([^\s$`;&|][^$`;&|\n]*?)\s*$", re.MULTILINE)
_LEADS = re.compile(r"(?:uv|poetry|pdm|hatch|pipenv|rye|pnpm|yarn|bun|npm) (?:run|exec|x|dlx) ")
_INTERPRETER = re.compile(
    r"(?:python|pypy)[0-9.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|Rscript|(?:ba|da|k|z)?sh|\$\w*(?:PY|NODE|SH)\w*"
)
_SHELL = re.compile(r"(?:ba|da|k|z)?sh")
_WITH_VALUE = frozenset(
    {"-W", "-X", "-I", "--conditions", "-C", "-o", "-e", "--eval", "-p", "--print", "--test-reporter"}
)
_LOADS = re.compile(r"-r|--require|--import|--(?:experimental-)?loader|-f|--(?:make)?file|--env-file")
_CONFIGURES = re.compile(
    r"-c|-f|-p|--?[\w-]*(?:conf|config|rc|rcfile|ini|setup|require|import|loader|plugins?|file|project|preset|env)[\w-]*"
)
_SETTINGS = re.compile(r".*\.(?:ini|cfg|toml|conf|rc|mk|sh|bash|zsh|env)")
_MODULE = re.compile(r"-[a-zA-Z]*m(.*)")

Reference = tuple[str, str]
"""How a text refers to something (`executes`, `configures`, `module`), and to what."""


def references(text: str) -> Iterator[Reference]:
    """Everything a shell text executes or is configured by, as it is written there."""
    plain = _VARIABLE.sub(r"$\1", text.replace("\\\n", " "))
    folder = ""
    for part in _PARTS.split(_with_values(plain)):
        words = [word.strip("\"'()@") for word in _LEADS.sub("", part.strip() + " ").split()]
        if "cd" in words[:-1]:
            folder = posixpath.join(folder, words[words.index("cd") + 1])
        for how, what in _of_command(words):
            yield how, what
            if folder and not what.startswith(("/", "$")):
                yield how, posixpath.join(folder, what)


def _with_values(text: str) -> str:
    """A text with the variables that it sets itself, each on a line, put in their places."""
    values = {name: value.strip("\"'") for name, value in _SET.findall(text)}
    return re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), text) if values else text


def _of_command(words: list[str]) -> Iterator[Reference]:
    words = [word for word in words if word]
    while words and (_ASSIGNED.fullmatch(words[0]) or _BEFORE.fullmatch(words[0]) or _LAUNCHES.fullmatch(words[0])):
        if _LAUNCHES.fullmatch(words[0]):
            words = ["", *dropwhile(_OF_LAUNCHER.fullmatch, words[1:])]
        if assigned := _ASSIGNED.fullmatch(words[0]):
            yield from (("configures", each) for each in re.split(r"[\s:=,]+", assigned[2]) if each)
        words = words[1:]
    if not words:
        return
    program, rest = words[0], words[1:]
    name = program.rpartition("/")[2]
    if name in {".", "source"}:
        yield from (("executes", each) for each in rest[:1])
        return
    yield "executes", program
    if _INTERPRETER.fullmatch(name):
        rest = yield from _interpreted(rest, shell=_SHELL.fullmatch(name) is not None)
    yield from _configured(rest)


def _interpreted(words: list[str], *, shell: bool) -> Generator[Reference, None, list[str]]:
    """The program an interpreter is given, and the rest of the words, which are that program's own."""
    at = 0
    while at < len(words):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        if not word.startswith("-"):
            yield "executes", word
            return words[at + 1 :]
        option, _, given = word.partition("=")
        if _LOADS.fullmatch(option):
            yield "executes", given or value
            at += 0 if given else 1
        elif not shell and (module := _MODULE.fullmatch(word)):
            yield "module", module[1] or value
            return words[at + (1 if module[1] else 2) :]
        elif word == "-c" or (shell and re.fullmatch(r"-[a-z]+c", word)):
            yield from references(" ".join(words[at + 1 :])) if shell else ()
            return []
        elif word in ({"-o", "-O"} if shell else _WITH_VALUE):
            at += 1
        at += 1
    return []


def _configured(words: list[str]) -> Iterator[Reference]:
    before = ""
    for word in words:
        option, _, given = word.partition("=")
        if word.startswith("-") and given:
            yield from (("configures", each) for each in given.split(",") if _CONFIGURES.fullmatch(option))
        elif not word.startswith("-") and (_CONFIGURES.fullmatch(before) or _SETTINGS.fullmatch(word)):
            yield "configures", word
        elif re.match(r"-[cfp].", word) and not word.startswith("--"):
            yield "configures", word[2:]
        before = word
