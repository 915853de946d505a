"""Reads the output of test runners, compilers and linters: which tests and files fail, and the lines that say why.

Everything is kept that is not known to be noise: progress, passing tests, counters, times, source excerpts and foreign
stack frames. So a tool nobody thought of still gets a reading.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from flyball.core.failures.masks import LONGEST_LINE, mask
from flyball.core.failures.noise import is_noise


class OutputReading(msgspec.Struct, frozen=True):
    """What an output says, masked: nothing in it depends on the run, but for the order of lines."""

    tests: tuple[str, ...]
    files: tuple[str, ...]
    details: tuple[str, ...]
    warnings: tuple[str, ...]
    headline: str
    where: str


_TESTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:FAILED|ERROR) (?P<id>\S+(?:\.\w+|::.+?))(?: - .*)?$",  # pytest's summary
        r"^(?:FAIL|ERROR): (?P<id>\S+ \([\w.<>]+\))",  # unittest
        r"^\s*--- FAIL: (?P<id>.+?)(?: \([\d.]+s\))?$",  # go
        r"^test (?P<id>.+?)(?: - should panic)? \.\.\. FAILED$",  # cargo
        r"^\s*not ok \d+(?: -)? (?P<id>.+?)(?: # .*)?$",  # TAP, node
        r"^\s*[✕✗✖×]\s+(?P<id>.+?)(?: \(?[\d.]+ ?m?s\)?)?$",  # jest, vitest, node's spec reporter
        r"^\s*FAIL\s+(?P<id>\S+\.[cm]?[jt]sx?(?: > .+)?)",  # jest, vitest
        r"^\s*● (?P<id>.+)$",  # jest
    )
)
_UNITTEST_ID = re.compile(r"^(\S+) \((.+?)(?:\.\1)?\)$")
_PYTEST_HEADING = re.compile(r"^_{3,} (?P<id>.+?) _{3,}$")
_FILE = re.compile(r"^(?:--> |:::\s)?(?P<file>(?:[\w@+~.-]+/)*(?:[\w@+~.-]+\.[A-Za-z]\w{0,7}|[Mm]akefile)):(?: |$)")
_TARGET = re.compile(
    r"^make(?:\[\d+\])?: \*\*\* (?:\[(?:.*: )?(?P<made>[^\]\s]+)\]|No rule to make target '.*', needed by '(?P<wanted>[^']+)')"
)
_NO_SCRIPT = re.compile(r"^npm (?:error|ERR!) Missing script: ")
_LONE_FILE = re.compile(r"^(?:/|[A-Za-z]:\\)\S*\.\w{1,8}$")

_WARNING = re.compile(
    r"^(?:\S+?:(?:\d+:)*\s*|\s*\d+:\d+\s+)?(?:warning|note|npm warn|npm WARN)\b(?:\[|:|\s)"
    r"|^\S+\(\d+,\d+\): warning|Warning: "
)
_CARETS = re.compile(r"^\s*[|]?\s*[\^~][\s\^~]*$")
_GUTTER = re.compile(r"^\s*(?P<mark>>)?\s*\d+\s*(?:\||[+~-](?:\s|$))\s?(?P<code>.*)$")
_BARE_GUTTER = re.compile(r"^\s*\d+\s+\S")
_TIGHT_GUTTER = re.compile(r"^\s*\d+\| ")
# tsc adds related places only where it draws excerpts.
_RELATED = re.compile(r"^\s{2,}\S+\.[cm]?tsx?:\d+:\d+(?: - .*)?$")
_TILDES = re.compile(r"^\s*~+\s*$")
_RUST_FRAME = re.compile(r"^\s+(?:\d+:|at )")
_LABEL = re.compile(r"^\s*[|│]\s*(?P<label>.*)$")
_DRAWING = re.compile(r"(?:^|(?<=\s))[|│^~+_\-]+(?=\s|$)")

_PYTHON_FRAME = re.compile(r'^(?P<indent>\s*)File "(?P<file>[^"]+)", line \d+(?:, in (?P<name>.+))?$')
_PYTEST_FRAME = re.compile(r"^(?P<file>[^\s:]+\.py|<[^>]+>):\d+:(?: in (?P<name>.+))?$")
_PYTEST_PLACE = re.compile(r"^(?P<file>[^\s:]+\.py):\d+: (?P<kind>\w+)$")
_DOCTEST_LINE = re.compile(r"^\d{3,}(?: (?P<code>.*))?$")
_FIXTURE = re.compile(r"^\w+\s+= ")
_SCRIPT_FRAME = re.compile(
    r"^[\s#]*(?:at |❯ )(?:(?P<name>.+?) \(?)?(?P<file>[^()\s]+?)(?::\d+:\d+|:\d+)\)?[,{ ]*$"
    r"|^[\s#]*at (?P<bare>.+?) \((?:<anonymous>|native|unknown|index \d+)\)$"
    r"|^\s+(?P<method>[\w.<>\[\] ]+) \((?P<path>[^()]+):\d+:\d+\)$|^\s+(?P<internal>(?:node:|file:|/)\S+):\d+:\d+$"
)
_FOREIGN = re.compile(
    r"node:|node_modules|site-packages|dist-packages|/lib/python\d|^<|/rustc/|/go/src/|/go-[\d.]+/|/usr/l"
)
_GO_FRAME = re.compile(r"^(?P<name>[\w./*()\[\]]+)\(.*\)$")
_GO_FOREIGN = re.compile(r"^(?:runtime|testing|reflect|internal|sync|panic)\b")
_HEADLINE = re.compile(r"^(?:[\w.]*(?:Error|Exception|Failure|Warning)\b|panic:|error\b|.*\berror\b|assert)")

_DURATION_AT_END = re.compile(r"\s+\(?(?:\d+(?:\.\d+)?\s?m?s)\)?$")
_TAP_NUMBER = re.compile(r"^(\s*not ok) \d+")

_HEADING = re.compile(r"^={3,} (?P<title>.+?) ={3,}$")
_SKIPPED_HEADING = re.compile(r"^(?:test session starts|warnings summary.*|PASSES|XFAILURES)$|durations|coverage")
_CAPTURED = re.compile(r"^-{3,} Captured .* -{3,}$|^-{3,} generated xml|^-{3,} coverage")


class _OutputReader:
    """One pass over the lines; what it remembers is the region and the frame it is in."""

    def __init__(self) -> None:
        self.tests: dict[str, None] = {}
        self.headings: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.details: dict[str, None] = {}
        self.warnings: dict[str, None] = {}
        self.sources: set[str] = set()
        self.headline = ""
        self.where = ""
        self.region = ""
        self.frame: re.Match[str] | None = None
        self.source = ""
        self.in_frames = False
        self.weak = False

    def line(self, line: str, following: str) -> None:
        """Takes one line, with the one after it for source lines that are recognised by the carets under them."""
        if self._turns_region(line):
            return
        self._names_test(line)
        if self.region in {"skip", "summary", "related"} and not line.startswith("INTERNALERROR>"):
            return
        quoted = self.region == "failures" and line.startswith("E ")
        line = line[4:] if quoted and line.startswith("E   ") else line[1:] if quoted else line
        if self._is_frame(line) or self._is_excerpt(line, following):
            return
        if self.region == "failures" and not quoted and self._is_pytest_source(line):
            return
        self._keep(line)

    def _turns_region(self, line: str) -> bool:
        if heading := _HEADING.match(line):
            title = heading["title"]
            known = {"FAILURES": "failures", "ERRORS": "failures", "short test summary info": "summary"}
            self.region = known.get(title, "skip" if _SKIPPED_HEADING.search(title) else "")
            self.frame = None
            return True
        if heading := _PYTEST_HEADING.match(line):
            self.headings[mask(heading["id"])] = None
            self.region = "failures"
            return True
        if self.region == "" and _RELATED.match(line):
            self.region = "related"
        elif self.region == "related" and not line.startswith("    "):
            self.region = ""
        if _CAPTURED.match(line):
            self.region = "skip"
            return True
        return False

    def _names_test(self, line: str) -> None:
        for pattern in _TESTS:
            if found := pattern.match(line):
                name = mask(found["id"])
                if unittest := _UNITTEST_ID.match(name):
                    name = f"{unittest[2]}.{unittest[1]}"
                if not re.match(r"\d+ problem", name):
                    self.tests[name] = None
                return

    def _is_frame(self, line: str) -> bool:
        if found := _PYTHON_FRAME.match(line):
            self._enter(found)
            return True
        if self.frame and "indent" in self.frame.re.groupindex:
            if len(line) - len(line.lstrip()) > len(self.frame["indent"]):
                self.source = self.source or ("" if _CARETS.match(line) else line)
                return True
            self.leave_frame()
        if found := _PYTEST_FRAME.match(line):
            self._enter(found)
            return True
        return self._is_script_frame(line) or self._is_go_frame(line)

    def _enter(self, found: re.Match[str]) -> None:
        known = self.frame
        if known is None or not _FOREIGN.search(found["file"]) or _FOREIGN.search(known["file"]):
            self.frame, self.source = found, ""

    def leave_frame(self) -> None:
        if self.frame:
            name = self.frame["name"] or ""
            self._add(f"in {mask(self.frame['file'])} {name}".rstrip())
            self.where = self.where or ("" if name.startswith("<") else name)
            if self.source:
                self._add(mask(self.source), is_source=True)
        self.frame, self.source = None, ""

    def _is_script_frame(self, line: str) -> bool:
        found = _SCRIPT_FRAME.match(line)
        if not found:
            self.in_frames = False
            return False
        file = found["file"] or found["path"] or found["internal"] or "<"
        if not self.in_frames and not _FOREIGN.search(file):
            name = (found["name"] or found["method"] or "").strip()
            # jest takes what follows from the source map, which finds another word when lines move
            name = "Object" if name.startswith("Object.") else name
            self._add(f"at {name} {mask(file)}")
            self.in_frames = True
        return True

    def _is_go_frame(self, line: str) -> bool:
        if line.startswith("goroutine ") and line.endswith(":"):
            self.region = "goroutine"
            return True
        if self.region != "goroutine":
            return False
        found = _GO_FRAME.match(line)
        if found and not _GO_FOREIGN.match(found["name"]):
            self._add(f"in {found['name']}")
            self.region = "frames"
        if self.region == "goroutine" and (line.startswith(("FAIL", "exit status")) or not line.strip()):
            self.region = ""
            return False
        return True

    def _is_excerpt(self, line: str, following: str) -> bool:
        if self._is_backtrace(line) or _CARETS.match(line):
            return True
        if gutter := _GUTTER.match(line):
            if gutter["mark"] or (_TIGHT_GUTTER.match(line) and _CARETS.match(following)):
                self._add(mask(gutter["code"]), is_source=True)
            return True
        if label := _LABEL.match(line):
            text = _DRAWING.sub(" ", label["label"]).strip()
            self._add(mask(text) if re.search(r"\w", text) else "")
            return True
        return bool(_BARE_GUTTER.match(line) and _TILDES.match(following))

    def _is_backtrace(self, line: str) -> bool:
        if self.region == "frames":
            self.region = "frames" if line.strip() and not line.startswith(("FAIL", "exit status")) else ""
            return True
        if line == "stack backtrace:":
            self.region = "backtrace"
            return True
        if self.region == "backtrace":
            self.region = "backtrace" if _RUST_FRAME.match(line) else ""
        return self.region == "backtrace"

    def _is_pytest_source(self, line: str) -> bool:
        if line.startswith(">"):
            self._add(mask(line[1:]), is_source=True)
            return True
        if doctest := _DOCTEST_LINE.match(line):
            self._add(mask(doctest["code"] or ""), is_source=True)
            return True
        return line.startswith("    ") or bool(_FIXTURE.match(line))

    def _keep(self, line: str) -> None:
        if not line.strip():
            self.weak = False
            return
        if is_noise(line):
            return
        if _LONE_FILE.match(line):
            self.files[mask(line)] = None
        elif target := _TARGET.match(line):
            self.files[mask(target["made"] or target["wanted"])] = None
        elif _NO_SCRIPT.match(line):
            self.files["package.json"] = None
        # Runners leave out the duration of a quick test, so masking it is not enough.
        bare = _TAP_NUMBER.sub(r"\1", _DURATION_AT_END.sub("", line.replace("npm ERR!", "npm error")))
        masked = mask(bare)
        if _WARNING.search(line):
            self.weak = True
        elif re.match(r"^(?:error|panic)", line):
            self.weak = False
        if place := _PYTEST_PLACE.match(line):
            masked = f"{mask(place['file'])}: {place['kind']}"
            self.frame = None
        self.leave_frame()
        self._add(masked)

    def _add(self, text: str, *, is_source: bool = False) -> None:
        """A line of source belongs to what failed and is not what went wrong: no headline."""
        if not text:
            return
        if self.weak:
            self.warnings[text] = None
            return
        if found := _FILE.match(text):
            self.files[found["file"]] = None
        if is_source:
            self.sources.add(text)
        elif not self.headline and _HEADLINE.match(text):
            self.headline = text
        self.details[text] = None


def read(lines: Sequence[str]) -> OutputReading:
    reader = _OutputReader()
    for line, following in pairwise([*(line[:LONGEST_LINE].rstrip() for line in lines), ""]):
        reader.line(line, following)
    reader.leave_frame()
    return OutputReading(
        tests=tuple(reader.tests or reader.headings),
        files=tuple(reader.files),
        details=tuple(reader.details),
        warnings=tuple(reader.warnings),
        headline=reader.headline or next((line for line in reader.details if line not in reader.sources), ""),
        where=reader.where,
    )
