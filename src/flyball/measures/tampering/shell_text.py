"""Takes a shell text apart: its simple commands, and which of them are run to have their output looked at."""

import re
from collections.abc import Iterator

import msgspec

_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_SET = re.compile(r"^\s*(?:export\s+)?(\w+)\s*[:?]{0,2}=\s*([^\s$`;&|][^$`;&|\n]*?)\s*$", re.MULTILINE)
_OPERATOR = re.compile(r"&&|\|\|?&?|;;?|\n|&(?!>)")
_REDIRECTION = re.compile(r"<<<|<<-?|[0-9]?(?:>>?|<)&?\|?|&>>?")
_PLAIN = re.compile(r"[^\s'\"`$\\();&|<>#]+")
DEEPEST = 20


class ShellCommand(msgspec.Struct, frozen=True):
    """One simple command.

    It is `examined` where somebody looks at what it prints: it is captured, piped on, written to a file. `inside` are the
    commands whose output stands among its words, `fed` the words of the command it is piped into, `sources` what it reads.
    """

    words: tuple[str, ...]
    examined: bool = False
    inside: "tuple[ShellCommand, ...]" = ()
    fed: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def commands(text: str) -> Iterator[ShellCommand]:
    """The commands of a text in their order, those within others before them; variables that it sets itself are put in."""
    plain = _VARIABLE.sub(r"$\1", text.replace("\\\n", " "))
    values = {name: value.strip("\"'") for name, value in _SET.findall(plain)}
    if values:
        plain = re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), plain)
    yield from _flat(_Reader(plain).read("", 0))


def _flat(found: list[ShellCommand]) -> Iterator[ShellCommand]:
    for each in found:
        yield from _flat(list(each.inside))
        yield each


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self, closing: str, depth: int) -> list[ShellCommand]:
        found: list[ShellCommand] = []
        pipeline = [_Draft()]
        while self._at < len(self._text):
            letter, now = self._text[self._at], pipeline[-1]
            if letter == closing:
                self._at += 1
                break
            if letter == "#" and now.word is None:
                self._at = self._find("\n")
            elif (moved := _REDIRECTION.match(self._text, self._at)) and (now.word is None or letter in "<>&"):
                self._redirect(moved[0], moved.end(), now)
            elif operator := _OPERATOR.match(self._text, self._at):
                self._at = operator.end()
                if operator[0] in {"|", "|&"}:
                    pipeline.append(_Draft())
                else:
                    found += _end_pipeline(pipeline)
                    pipeline = [_Draft()]
            elif letter in "()":
                self._at += 1
                found += _end_pipeline(pipeline)
                pipeline = [_Draft()]
                found += self.read(")", depth + 1) if letter == "(" and depth < DEEPEST else []
            else:
                self._letter(letter, now, depth)
        return found + _end_pipeline(pipeline)

    def _letter(self, letter: str, now: "_Draft", depth: int) -> None:
        if letter.isspace():
            now.end()
            self._at += 1
        elif letter == "\\":
            now.add(self._text[self._at + 1 : self._at + 2])
            self._at += 2
        elif letter == "'":
            end = self._find("'", self._at + 1)
            now.add(self._text[self._at + 1 : end])
            self._at = end + 1
        elif letter == '"':
            self._read_quotes(now, depth)
        elif not self._read_substitution(now, depth):
            plain = _PLAIN.match(self._text, self._at)
            now.add(plain[0] if plain else letter)
            self._at = plain.end() if plain else self._at + 1

    def _read_quotes(self, now: "_Draft", depth: int) -> None:
        self._at += 1
        now.add("")
        while self._at < len(self._text) and self._text[self._at] != '"':
            if self._text[self._at] == "\\":
                now.add(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif not self._read_substitution(now, depth):
                now.add(self._text[self._at])
                self._at += 1
        self._at += 1

    def _read_substitution(self, now: "_Draft", depth: int) -> bool:
        """Take in a command whose output stands here, if one does; in its place stands a variable."""
        opened = next((o for o in ("$(", "`") if self._text.startswith(o, self._at)), "")
        if not opened or depth >= DEEPEST:
            return False
        self._at += len(opened)
        inner = self.read(")" if opened == "$(" else "`", depth + 1)
        now.inside += [msgspec.structs.replace(each, examined=True) for each in inner]
        now.add("$_")
        return True

    def _redirect(self, operator: str, end: int, now: "_Draft") -> None:
        if now.word is not None and not now.word.isdigit():
            now.end()
        now.word = None
        self._at = end
        target = re.compile(r"[ \t]*([\"']?)([^\s;&|<>()\"']*)\1").match(self._text, self._at)
        name = target[2] if target else ""
        self._at = target.end() if target else end
        if operator.endswith("<"):
            now.sources.append(name)
        elif ">" in operator and "&" not in operator and name != "/dev/null":
            now.examined = True

    def _find(self, letter: str, start: int | None = None) -> int:
        found = self._text.find(letter, self._at if start is None else start)
        return found if found >= 0 else len(self._text)


class _Draft:
    def __init__(self) -> None:
        self.words: list[str] = []
        self.word: str | None = None
        self.inside: list[ShellCommand] = []
        self.sources: list[str] = []
        self.examined = False

    def add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def end(self) -> None:
        if self.word is not None:
            self.words.append(self.word)
            self.word = None


def _looks(draft: _Draft) -> bool:
    """Whether a command does something with what it is given but pass it on."""
    return draft.words[:1] not in ([], ["tee"], ["cat"], ["ts"], ["tail"], ["head"], ["less"], ["more"])


def _end_pipeline(pipeline: list[_Draft]) -> list[ShellCommand]:
    for each in pipeline:
        each.end()
    return [
        ShellCommand(
            tuple(each.words),
            each.examined or any(_looks(later) for later in pipeline[at + 1 :]),
            tuple(each.inside),
            tuple(word for later in pipeline[at + 1 :] for word in later.words),
            tuple(each.sources),
        )
        for at, each in enumerate(pipeline)
        if each.words or each.inside
    ]
