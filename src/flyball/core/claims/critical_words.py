"""Where a review calls a finding critical without the field that counts them: a label, a heading, a column of a table."""

import re
from collections.abc import Iterator, Sequence

_LABEL = re.compile(
    r"(?i)^[ \t>|*+_`-]*(?:[0-9]{1,3}[.)][ \t]*)?[\[(*_`]*criticals?[\])*_`]*[ \t]*[:\u2013\u2014|]"
    r"|[\[(]criticals?[\])]|\*\*criticals?:?\*\*|\bseverity[\"'*_`]*[ \t]*[:=|][ \t\"'*_`]*critical\b|\|[ \t*_`]*critical[ \t*_`]*\|"
)
_HEADING = re.compile(r"(?i)[ \t>]*#{1,6}[ \t]+\W*criticals?\b[^0-9]*")
_NOTHING = re.compile(
    r"(?i)[ \t>*+_`(-]*(?:(?:none|nothing|zero|0|n/?a)\b.*|no (?:\w+ )?(?:findings?|issues?|problems?)\b.*)?"
)
_SEPARATOR = re.compile(r"[ \t>|:-]*-[ \t>|:-]*")


def labels_critical(lines: Sequence[str], index: int) -> bool:
    """Whether a line labels a finding as critical, or is a heading of critical ones with something below it."""
    line = lines[index]
    if _HEADING.fullmatch(line):
        below = next((each for each in lines[index + 1 :] if each.strip()), "#")
        return not below.lstrip().startswith("#") and not _NOTHING.fullmatch(below)
    is_head = index + 1 < len(lines) and "|" in line and _SEPARATOR.fullmatch(lines[index + 1])
    return not is_head and _LABEL.search(line) is not None


def critical_columns(lines: Sequence[str]) -> Iterator[int]:
    """The numbers below the head `Critical` of a table."""
    for index in range(len(lines) - 2):
        if "|" not in lines[index] or not _SEPARATOR.fullmatch(lines[index + 1]):
            continue
        heads = [re.fullmatch(r"(?i)criticals?", cell) is not None for cell in _cells(lines[index])]
        for line in lines[index + 2 :]:
            if "|" not in line:
                break
            cells = zip(heads, _cells(line), strict=False)
            yield from (int(cell) for head, cell in cells if head and re.fullmatch(r"[0-9]{1,6}", cell))


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in line.strip(" \t>").strip("|").split("|")]
