"""code-quality: its tools by known lines, what silences none of them, coverage, and what is missing."""

import os

import pytest
from tests.measures.evaluators.planted import found, lay_out, options, trees_of

from flyball.core.evaluation.structural import BuildRun
from flyball.measures.evaluators import code_quality
from flyball.measures.evaluators.code_quality import measure
from flyball.measures.evaluators.ground import CoverageLines
from flyball.measures.evaluators.sources import commented_code, duplication
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.evaluators.toolbox import EXTRA, Toolbox, ToolFailed, ToolMissing, lacking_tools

pytestmark = pytest.mark.req("D22")
SILENT = "no" + "qa"
GOOD = "def double(number: int) -> int:\n    return number * 2\n\n\nFOUR = double(2)\n"


@pytest.mark.slow
@pytest.mark.req("D20")
def test_nothing_a_track_writes_silences_a_tool(tmp_path):
    before = {"pkg/__init__.py": ""}
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": f"import re  # {SILENT}\n\n\ndef f() -> None:\n    # TODO later\n    try:\n        g()\n    except Exception:  # {SILENT}: BLE001\n        pass\n\n\ndef g() -> None:\n    return None\n\n\nf()\n",
        "web/a.ts": "// eslint-disable\n// oxlint-disable\nexport const b = (x: any) => x;\nconsole.log(b(1));\n",
        ".gitignore": "*\n",
        ".ignore": "*\n",
        "ruff.toml": 'exclude = ["*"]\n',
        ".oxlintrc.json": '{"ignorePatterns": ["**"]}\n',
        ".jscpd.json": '{"ignore": ["**"]}\n',
    }
    results = list(measure(trees_of(tmp_path, files, before)))
    assert "pkg/a.py:1 F401" in found(results, "patterns")
    assert "pkg/a.py:8 S110" in found(results, "error handling")
    assert "pkg/a.py:5 FIX002" in found(results, "dead code")
    assert "web/a.ts:4 no-console" in found(results, "dead code")
    assert "web/a.ts:3 no-explicit-any" in found(results, "type safety")


@pytest.mark.slow
@pytest.mark.req("D20")
def test_a_consequence_on_an_untouched_line_counts_and_an_old_finding_does_not(tmp_path):
    before = {
        "a.py": "import os\nimport re\n\n\ndef name(path: str) -> str:\n    return re.sub('x', '', os.path.basename(path))\n\n\nprint(name(''))  # TODO old\n"
    }
    files = {"a.py": before["a.py"].replace("re.sub('x', '', os.path.basename(path))", "os.path.basename(path)")}
    results = list(measure(trees_of(tmp_path, files, before)))
    assert found(results, "patterns") == ["a.py:2 F401"]
    dead = next(each for each in results if each.name == "dead code")
    assert dead.status == "pass"
    assert {each.rule for each in dead.older} >= {"FIX002"}


def test_a_package_with_an_empty_init_is_read_as_one(tmp_path):
    files = {
        "src/shelf/__init__.py": "",
        "src/shelf/loans.py": "class Desk:\n    name = 'a'\n\n    def _forgotten(self) -> str:\n        return self.name\n",
        "src/shelf/main.py": "from shelf.loans import Desk\n\n\ndef run() -> str:\n    return Desk.name\n",
        "pyproject.toml": "[project]\nname = 'shelf'\n[project.scripts]\nshelf = 'shelf.main:run'\n",
    }
    trees = trees_of(tmp_path, files)
    assert [(each.file, each.line) for each in duplication.unused_code(trees, trees.head)] == [
        ("src/shelf/loans.py", 4)
    ]


def test_a_track_without_code_has_nothing_to_check(tmp_path):
    results = list(measure(trees_of(tmp_path, {"notes.md": "x\n"})))
    assert {each.status for each in results} == {"n/a"}


def test_a_failed_build_fails_its_pass(tmp_path):
    trees = trees_of(tmp_path, {"notes.md": "x\n"}, build=BuildRun("make", passed=False, said="exit 2"))
    assert next(iter(measure(trees))).status == "fail"


@pytest.mark.parametrize(
    ("hits", "patterns", "status"),
    [
        ([True] * 7 + [False] * 3, (), "pass"),
        ([True] * 6 + [False] * 4, (), "fail"),
        ([True] * 8 + [False] * 2, ("a.py",), "fail"),
        ([True] * 9 + [False], ("a.py",), "pass"),
    ],
)
def test_coverage_is_held_against_its_thresholds_and_changed_lines_are_named(tmp_path, hits, patterns, status):
    text = "".join(f"x{n} = {n}\n" for n in range(10))
    lines = CoverageLines({"a.py": dict(enumerate(hits, 1)), "tests/test_a.py": {1: False}})
    trees = trees_of(tmp_path, {"a.py": text}, coverage=lines, options=options(business=patterns))
    result = code_quality._coverage(trees)
    assert result.status == status
    if status == "fail":
        assert [each.line for each in result.findings if each.rule == "uncovered"] == [
            n for n, hit in enumerate(hits, 1) if not hit
        ]


def test_no_coverage_is_not_applicable_and_a_report_that_cannot_be_read_fails(tmp_path):
    assert code_quality._coverage(trees_of(tmp_path / "a", {})).status == "n/a"
    broken = trees_of(tmp_path / "b", {}, coverage=CoverageLines({}, "gate test wrote no coverage report"))
    assert code_quality._coverage(broken).status == "fail"


@pytest.mark.req("D20")
def test_a_missing_tool_that_nobody_configured_is_not_verified_and_fails_nothing(tmp_path, monkeypatch):
    trees = trees_of(tmp_path, {"a.py": GOOD})
    monkeypatch.setattr("flyball.measures.evaluators.toolbox.find_tool", lambda *_: "")
    results = [each for each in measure(trees) if each.name != "coverage"]
    assert {each.name: each.status for each in results} == {
        "build and type check": "pass",
        **dict.fromkeys(("type safety", "patterns", "error handling", "dead code"), "n/a"),
    }
    assert all(EXTRA in note for each in results for note in each.notes), [each.notes for each in results]
    assert all(each.reason.startswith("not verified: ") for each in results if each.status == "n/a")
    with pytest.raises(ToolMissing, match="chromium"):
        trees.toolbox.require("chromium")


@pytest.mark.req("D20")
def test_a_tool_that_fails_before_the_track_too_is_not_verified_and_one_that_the_track_broke_fails(tmp_path):
    trees = trees_of(tmp_path, {"a.py": GOOD}, {"a.py": GOOD})

    def broken(tree, trees_hit):
        if tree in trees_hit:
            raise ToolFailed("mypy failed (exit 2): INTERNAL ERROR")
        return ()

    both = trees.compare("patterns", lambda tree: broken(tree, (trees.head, trees.base)))
    assert (both.status, both.reason) == ("n/a", "not verified: mypy failed (exit 2): INTERNAL ERROR")
    own = trees.compare("patterns", lambda tree: broken(tree, (trees.head,)))
    assert (own.status, "INTERNAL ERROR" in own.reason) == ("fail", True)


@pytest.mark.slow
@pytest.mark.req("D20")
def test_a_rule_that_the_project_does_not_enable_is_not_applied(tmp_path):
    settings = '[tool.ruff.lint]\nselect = ["F"]\n'
    text = (
        "def f(a):\n    # TODO later\n    print(a)\n    try:\n        return a.b\n    except Exception:\n        pass\n"
    )
    project = {"pyproject.toml": settings, "src/p/py.typed": "", "src/p/__init__.py": ""}
    trees = trees_of(tmp_path, project | {"src/p/a.py": f"import os\n\n\n{text}"}, project)
    results = list(measure(trees))
    rules = {each.rule for result in results for each in result.findings}
    assert rules & {"F401"}
    assert not rules & {"ANN001", "ANN201", "FIX002", "T201", "S110"}
    assert "mypy" not in str(results)


@pytest.mark.slow
@pytest.mark.req("D20")
def test_a_rule_that_the_project_enables_counts_and_a_track_cannot_switch_it_off(tmp_path):
    before = {
        "ruff.toml": '[lint]\nselect = ["ANN", "T20"]\n',
        "mypy.ini": "[mypy]\ndisallow_untyped_defs = True\n",
        "a.py": "",
    }
    files = {"ruff.toml": "", "mypy.ini": "[mypy]\n", "a.py": "def f(a):\n    return a\n"}
    results = list(measure(trees_of(tmp_path, files, before)))
    assert "a.py:1 ANN001" in found(results, "type safety")
    assert "a.py:1 mypy/no-untyped-def" in found(results, "build and type check")


def test_python_that_cannot_be_read_fails_without_any_tool(tmp_path, monkeypatch):
    monkeypatch.setattr("flyball.measures.evaluators.toolbox.find_tool", lambda *_: "")
    results = list(measure(trees_of(tmp_path, {"a.py": "def broken(:\n"})))
    assert found(results, "build and type check") == ["a.py:1 syntax"]


@pytest.mark.req("C9")
@pytest.mark.parametrize(
    ("settings", "tool"),
    [
        ({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, "mypy"),
        ({"setup.cfg": "[mypy]\n"}, "mypy"),
        ({"ruff.toml": ""}, "ruff"),
        ({".oxlintrc.json": "{}"}, "oxlint"),
        ({"pyproject.toml": "[tool.pyright]\n"}, ""),
        ({}, ""),
    ],
)
def test_a_tool_that_the_project_configures_is_missed_before_anything_runs(tmp_path, monkeypatch, settings, tool):
    monkeypatch.setattr("flyball.measures.evaluators.toolbox.find_tool", lambda *_: "")
    root = lay_out(tmp_path, settings)
    said = list(lacking_tools(["code-quality"], root, {}, pages=False))
    assert said == ([f"{next(iter(settings))} configures {tool}, which is not installed here. Install it with: {EXTRA}"] if tool else [])  # fmt: skip
    assert not list(lacking_tools(["other"], root, {}, pages=False))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 7", "exit 7"),
        ("sleep 60", "time limit"),
        ("x=x; while :; do x=$x$x; done", "failed"),
        ("kill -9 $$", "signal 9"),
    ],
)
def test_a_tool_is_bounded_in_time_and_memory_and_its_end_is_told(tmp_path, script, said, monkeypatch):
    monkeypatch.setattr("flyball.measures.evaluators.toolbox.MEMORY_MB", 64)
    toolbox = Toolbox(tmp_path, os.environ)
    with pytest.raises(ToolFailed, match=said):
        toolbox.run("ruff", ["-c", script], cwd=tmp_path, program="/bin/sh", timeout_s=1 if "sleep" in script else 60)


def test_what_a_tool_says_is_read_after_its_first_sentence(tmp_path):
    toolbox = Toolbox(tmp_path, os.environ)
    assert toolbox.json("x", b'No files.\n{"a": 1}') == {"a": 1}
    with pytest.raises(ToolFailed):
        toolbox.json("x", b"nothing at all")


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("/*\nfor (const each of all) {\n  each.go();\n}\n*/", True),
        ("/* const old = load(); */", True),
        ("/*\n * return all;\n */", True),
        ("// const old = load();\n// save(old);", True),
        ("/* (c) 2026 the authors; see LICENSE */", False),
        ("/**\n * const found = await beds();\n */", False),
        ("/* what is left is written by the next start */", False),
        ("/*! keep */", False),
    ],
)
def test_a_comment_in_a_script_is_code_if_it_parses_as_statements(tmp_path, comment, code):
    trees = trees_of(tmp_path, {"a.ts": f"export const a = 1;\n{comment}\n"})
    told = commented_code.commented_scripts(Syntax(trees.toolbox), trees.head)
    assert [each.line for each in told] == ([2] if code else [])


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("# total = price * count", True),
        ("# def old(a):\n#     return a", True),
        ("#     if a:\n#         stop(a)", True),
        ("# send(mail)", True),
        ("# Later perhaps:\n# first = load()\n# second = save(first)", True),
        ("# Not yet.\n# except KeyError as error:\n#     raise Missing from error", True),
        ("# else:\n#     give_up()", True),
        ("# {'seq': 0, 'name': 'main'}", False),
        ("# width == 0 or width == -inf", False),
        ("# returns ([results], [timed_out])", False),
        ("# mean: mu + cov @ inv(cov)", False),
        ("# The sum of both:\n# total = price * count", False),
        ("# Example:\n# {\n#   'a': 1\n# }", False),
        ("# Say this is the list:\n# [arg0, arg1, arg(N-1)]\n# then arg1 is taken.", False),
    ],
)
def test_a_comment_is_code_if_it_is_statements_and_no_formula_or_example(comment, code):
    assert commented_code.is_commented_python(comment.split("\n")) is code
