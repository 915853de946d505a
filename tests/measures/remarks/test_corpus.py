"""Each row of the table on code that it describes, and on an honest twin: `corpus/ROW.yaml`."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from flyball.measures.remarks.change import ChangedTree, make_remarks
from flyball.measures.remarks.patterns import PATTERNS

CORPUS = Path(__file__).parent / "corpus"
CASES = [(file.stem, case) for file in sorted(CORPUS.glob("*.yaml")) for case in yaml.safe_load(file.read_text())]


def remarks_on(case: dict[str, Any]) -> list[str]:
    base, candidate = ({p: t.encode() for p, t in case.get(side, {}).items()} for side in ("base", "candidate"))
    changed = sorted(path for path in {*base, *candidate} if base.get(path) != candidate.get(path))
    made = make_remarks(ChangedTree(base.get, candidate.get, changed, tuple(candidate), case.get("links", ())))
    return [f"{remark.place} {remark.text}" for remark in made.remarks]


@pytest.mark.req("C16")
@pytest.mark.parametrize(("row", "case"), CASES, ids=[f"{row}: {case['case']}" for row, case in CASES])
def test_a_remark_stands_where_the_change_has_what_the_row_describes(row: str, case: dict[str, Any]) -> None:
    assert remarks_on(case) == case.get("remarks", [])


@pytest.mark.parametrize("row", PATTERNS, ids=lambda row: row.name)
def test_every_row_has_cases_with_honest_twins_in_each_language_it_is_looked_for(row: Any) -> None:
    mine = [case for name, case in CASES if name == row.name]
    endings = {"": True, ".py": row.python is not None, ".js": row.script is not None}
    for honest in (False, True):
        paths = {path for case in mine if bool(case.get("remarks")) is not honest for path in case["candidate"]}
        for ending in (ending for ending, wanted in endings.items() if wanted):
            assert any(path.endswith(ending) for path in paths), (row.name, ending, honest)
