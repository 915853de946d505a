"""Mermaid diagrams: what is said of them with Mermaid's own parser, and what without it."""

import os
import sys
from pathlib import Path

import pytest

from flyball.measures.gates.commands import Commands
from flyball.measures.quality.diagrams import SUPERFICIAL, Diagrams, diagrams_of, shape_of, shapes
from flyball.process import StopFlag
from flyball.workspace.sandbox import Unconfined

PACKAGES = Path(sys.prefix) / "node"


def checker(folder: Path, path: str) -> Diagrams:
    commands = Commands(
        confine=Unconfined(),
        environment={"PATH": path},
        folder=folder / "logs",
        stop=StopFlag(),
        notify=lambda *_: None,
    )
    (folder / "tree").mkdir()
    return Diagrams(commands, folder / "tree")


@pytest.fixture
def parser(tmp_path: Path) -> Diagrams:
    if not (PACKAGES / "lib" / "node_modules" / "mermaid").is_dir():
        pytest.skip(
            f"the npm packages mermaid and jsdom are not in {PACKAGES}; `make test` puts them there where npm is"
        )
    return checker(tmp_path, f"{PACKAGES / 'bin'}:{os.environ['PATH']}")


@pytest.mark.slow
@pytest.mark.req("C41")
def test_mermaids_own_parser_is_asked_where_it_is_installed(parser: Diagrams) -> None:
    sound = [
        "graph TD\n  A[Start] --> B{Choice}\n",
        "classDiagram\n  class Animal {\n    +int age\n    +eat() void\n  }\n",
        'C4Context\n  title System\n  Person(a, "A person")\n',
        "erDiagram\n  CUSTOMER ||--o{ ORDER : places\n",
    ]
    broken = ["graph TD\n  A -->\n", "sequenceDiagram\n  A ->> : to nobody\n", "no diagram at all\n"]
    said = parser([*sound, None, *broken])
    assert said[:5] == ["", "", "", "", "its fence is never closed"]
    assert all(said[5:])
    assert "Parse error on line" in said[5]
    assert parser.notes == ()


@pytest.mark.req("C41")
@pytest.mark.parametrize("path", ["/usr/bin:/bin", "/nowhere"], ids=["no packages", "no node"])
def test_without_the_parser_the_shape_is_checked_and_the_measurement_says_so(tmp_path: Path, path: str) -> None:
    diagrams = checker(tmp_path, path)
    assert diagrams(["graph TD\n A --> B\n", "graf TD\n A --> B\n"]) == ["", "unknown diagram type: graf TD"]
    (note,) = diagrams.notes
    assert note.startswith(SUPERFICIAL)
    assert "npm install --global mermaid jsdom" in note


@pytest.mark.req("C41")
def test_nothing_is_started_for_documents_without_diagrams(tmp_path: Path) -> None:
    diagrams = checker(tmp_path, "/usr/bin:/bin")
    assert diagrams([None]) == ["its fence is never closed"]
    assert diagrams.notes == ()
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    "source",
    [
        'flowchart LR\n  A(["x"]) -->|yes| B((end))\n  A -. maybe .-> C[/slanted/]\n  D>flag] --- A',
        "sequenceDiagram\n  Alice->>Bob: Hello (there\n  Bob-->>Alice: Hi",
        "classDiagram\n  class A {\n    +int x\n    +run() void\n  }\n  A <|-- B",
        "stateDiagram-v2\n  [*] --> Still\n  Still --> [*]",
        "erDiagram\n  CUSTOMER ||--o{ ORDER : places\n  ORDER }|..|{ ITEM : holds",
        "---\ntitle: T\n---\ngraph TD\n  A --> B",
        '%% remark\npie title Pets\n  "Dogs" : 3',
        "gantt\n  title T\n  section S\n  Task :a1, 2026-01-01, 3d",
        'C4Context\n  Person(a, "A")',
    ],
)
def test_sound_diagrams_are_not_called_broken(source) -> None:
    assert shape_of(source) == ""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "empty"),
        ("graf TD\n A --> B", "unknown diagram type"),
        ("graph TD", "no content"),
        ("graph TD\n  A[x --> B", "not closed"),
        ("graph TD\n  A[x)", "does not match"),
        ('graph TD\n  A["x] --> B', "quote"),
        ("classDiagram\n  class A {\n    +int x", "not closed"),
    ],
)
def test_broken_diagrams_are_named(source, said) -> None:
    assert said in shape_of(source)


def test_a_diagram_whose_fence_is_never_closed_is_broken() -> None:
    assert shapes(diagrams_of("```mermaid\ngraph TD\n A --> B\n")) == ["its fence is never closed"]
