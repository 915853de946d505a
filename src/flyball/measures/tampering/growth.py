"""Whether a source only grew: every line it had is there in its order, and each block that came between stands on its own."""

import re
from itertools import takewhile

_OPENING = (("(", ")"), ("{", "}"), ("[", "]"))
_IMPORT = re.compile(
    r"(?P<before>\s*(?:import|const)\s*\{)(?P<names>[^{}]*)(?P<after>\}\s*(?:from\b|=\s*require\b).*)"
    r"|(?P<export>\s*(?:export|module\.exports\s*=)\s*\{)(?P<exported>[\w\s,$]*)(?P<end>\};?)"
    r"|(?P<python>\s*from\s+\S+\s+import\s+)(?P<imported>[\w\s,]+)"
)
_AROUND = ("before", "after", "python", "export", "end")
_MARK = re.compile(r"\b(?:x(?=(?:it|test|describe)\b)|(?<=[a-z])\.(?:skip|failing|fails)\b)")
"""What keeps a test of a script from being asked."""
_ENDS_EARLY = re.compile(
    r"\s*(?:(?:exit|return|break|continue|exec|goto|trap|alias|unset|sys\.exit|process\.exit|quit|set\s+\+\w|#\s*(?:if|define|undef))(?!\w)|\w+\s*\(\)\s*\{)"
)
"""What may keep the lines behind it from being asked, or give their words another meaning."""
_INPUT = re.compile(r"[\w./$(){}-]+\.(?:o|obj|c|cc|cpp|cxx|m|h|hh|hpp|s|S|f90|adb|java|class)")
_TAKES_NEXT = re.compile(r".*(?:\\|&&|\|)|\s*(?:if|for|while|else|switch)\b(?!.*(?:[;}]|\bfi|\bdone)$).*")
"""A last line that takes the one behind it along."""
_MARKS_NEXT = re.compile(r"\s*(?:#\[|@[A-Z])")
_TEST_MARK = re.compile(r"\s*(?:#\[(?:\w+::)*r?s?test\b|@(?:Parameterized)?Test\b)")
"""How a line begins that only says of the next one that it is a test."""


def added_blocks(before: str, after: str) -> tuple[str, ...] | None:
    """What stands between the lines of before, each of which is there, imports more or skips no more; None where one is missing."""
    left = before.splitlines()
    blocks = [""]
    for line in after.splitlines():
        if left and (line == left[0] or _MARK.sub("", left[0]) == line or _imports_more(left[0], line)):
            left.pop(0)
            blocks.append("")
        else:
            blocks[-1] += f"{line}\n"
    return None if left else tuple(block for block in blocks if block.strip())


def only_grows(before: str, after: str) -> bool:
    """Whether a program asks all that it asked and more, as far as its text shows; what it then decides is measured."""
    blocks = added_blocks(before, after)
    return blocks is not None and all(is_balanced(block) and _stands_alone(block) for block in blocks)


def gains_inputs(before: str, after: str) -> bool:
    """Whether a file that a gate executes only names more sources or objects, as a new one needs it to be built."""
    old, new = before.splitlines(), after.splitlines()
    return len(old) == len(new) and before != after and all(map(_names_more_inputs, old, new))


def _names_more_inputs(old: str, new: str) -> bool:
    if old == new:
        return True
    left = old.split()
    added = [word for word in new.split() if not (left and word == left[0] and left.pop(0))]
    return bool(added) and not left and all(map(_INPUT.fullmatch, added))


def is_balanced(block: str) -> bool:
    """Whether every bracket that a block opens is closed in it."""
    return all(block.count(a) == block.count(b) for a, b in _OPENING)


def _stands_alone(block: str) -> bool:
    lines = [line for line in block.splitlines() if line.strip()]
    least = min(len(line) - len(line.lstrip()) for line in lines)
    outer = [line for line in lines if len(line) - len(line.lstrip()) == least]
    if any(_ENDS_EARLY.match(line) for line in outer) or _TAKES_NEXT.fullmatch(lines[-1].rstrip()):
        return False
    if any(not _TEST_MARK.match(line) for line in takewhile(_MARKS_NEXT.match, reversed(lines))):
        return False
    return block.count("/*") == block.count("*/") and not any(block.count(q) % 2 for q in ('"""', "'''"))


def _imports_more(old: str, new: str) -> bool:
    """Whether a line imports what it did from the same place, or exports it, and more."""
    before, after = _IMPORT.fullmatch(old), _IMPORT.fullmatch(new)
    if before is None or after is None or before.group(*_AROUND) != after.group(*_AROUND):
        return False
    names, more = (
        (found["names"] or found["imported"] or found["exported"] or "").split(",") for found in (before, after)
    )
    return {name.strip() for name in names} <= {name.strip() for name in more}
