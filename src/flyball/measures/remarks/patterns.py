"""The table of patterns that a remark is made of, most telling first: one row for each.

`python` looks at a node of a syntax tree, `script` at JavaScript and TypeScript without comments, `comment` at comments of any language.
`places` says in which code a row is looked for. A row with `once` is remarked once in a change, any other once in a file. `shortcuts` are the numbers of the catalogue in the documentation.
"""

import re
from typing import Literal

import msgspec

from flyball.measures.remarks import python_nodes as nodes
from flyball.measures.remarks.python_nodes import NodeRule

Places = Literal["product", "tests", "all"]
_CONSTANT = r"""(?:-?\d[\d._]*|true|false|null|undefined|"[^"\n]*"|'[^'\n]*'|\[\s*\]|\{[^{}()$\n]*\})"""
_PARAMETERS = r"\(\s*[A-Za-z$][^(){}]{0,200}\)\s*(?::\s*[\w<>\[\]|, ]{1,60})?"
_NO_CALL = r"(?<![\w$.])(?!(?:if|for|while|switch|catch|with)\b)"


class Pattern(msgspec.Struct, frozen=True):
    """One row: what is said of a place in the change that looks like this."""

    name: str
    text: str
    shortcuts: str
    places: Places = "product"
    python: NodeRule | None = None
    script: re.Pattern[str] | None = None
    comment: re.Pattern[str] | None = None
    once: bool = False


PATTERNS = (
    Pattern(
        "test-run",
        "asks whether tests are running",
        "D4",
        python=nodes.names_test_run,
        script=re.compile(
            r"""process\.env(?:\.|\[\s*["'])(?:JEST_WORKER_ID|VITEST\w*)|NODE_ENV["'\]]*\s*[!=]==?\s*["']test["']"""
            r"|\btypeof\s+(?:jest|vi|describe|it|expect)\b"
        ),
    ),
    Pattern("expected-values", "holds the values of assertions", "D1, D2, D7, D9, F2"),
    Pattern(
        "test-files",
        "names a file or folder of tests",
        "D6",
        python=nodes.names_test_file,
        script=re.compile(
            r"""["'`](?:[^"'`\s]*/)?(?:(?:tests?|__tests__|specs?)/[^"'`\s]*|[\w*-]+\.(?:test|spec)\.[cm]?[jt]sx?)["'`]"""
        ),
    ),
    Pattern(
        "comparison",
        "overrides a comparison without comparing values",
        "D10, D11",
        python=nodes.overrides_comparison,
        script=re.compile(r"\basymmetricMatch\s*[(:]|\[\s*Symbol\.toPrimitive\s*\]|(?<![.\w])valueOf\s*(?:\(|:\s*\()"),
    ),
    Pattern(
        "foreign-write",
        "replaces a part of a module from outside this repository",
        "E3",
        python=nodes.writes_foreign_module,
        script=re.compile(
            r"(?<![\w$.])(?:Date|Math|JSON|Object|Array|String|Number|Promise|performance|crypto|fs|http|https)"
            r"(?:\.prototype)?\.\w+\s*=(?![=>])"
        ),
    ),
    Pattern(
        "stack",
        "reads the call stack",
        "D5",
        python=nodes.reads_stack,
        script=re.compile(r"new\s+Error\([^()\n]*\)\.stack\b|\bError\.(?:captureStackTrace|prepareStackTrace)\b"),
    ),
    Pattern(
        "dynamic-code",
        "runs code from a text",
        "D8",
        python=nodes.runs_text,
        script=re.compile(r"(?<![\w$.])eval\s*\(|\bnew\s+Function\s*\("),
    ),
    Pattern(
        "addressed",
        "speaks to whoever reviews or grades the work",
        "G4",
        "all",
        comment=re.compile(
            r"(?:\b(?:reviewers?|auditors?|graders?|evaluators?|llm|ai model)\b.{0,60}\b(?:approved?|ignore|skip|accept|pass|not flag|not report|fine)\b)"
            r"|\b(?:already|pre-?)\s?approved\b|\bignore (?:all |any )?(?:previous|prior|earlier) instructions\b",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "constant-condition",
        "has a condition that is always the same",
        "F7",
        python=nodes.has_constant_condition,
        script=re.compile(
            r"\bif\s*\((?:\s*(?:true|false|!0|!1|0|1)\s*(?:\)|&&|\|\|)|[^(){};]{0,120}(?:&&\s*false|\|\|\s*true)\s*\))"
        ),
    ),
    Pattern(
        "stub",
        "is not implemented",
        "F1",
        python=nodes.is_stub,
        script=re.compile(
            r"""\bthrow\s+new\s+\w*Error\(\s*["'`][^"'`\n]{0,80}(?:\bTODO\b|\bnot (?:yet )?implemented\b|\bunimplemented\b)""",
            re.IGNORECASE,
        ),
    ),
    Pattern(
        "constant-result",
        "returns a constant and reads no parameter",
        "D3, F4",
        python=nodes.returns_constant,
        script=re.compile(
            rf"{_NO_CALL}[\w$]+\s*{_PARAMETERS}\{{\s*return\s+{_CONSTANT}\s*;?\s*\}}"
            rf"|=\s*(?:async\s*)?{_PARAMETERS}=>\s*{_CONSTANT}\s*(?:;|$)",
            re.MULTILINE,
        ),
    ),
    Pattern(
        "swallowed-error",
        "catches any error and goes on with a constant",
        "F3",
        python=nodes.swallows_errors,
        script=re.compile(
            rf"\bcatch\s*(?:\([^()]*\)\s*)?\{{\s*(?:return\s*{_CONSTANT}?\s*;?\s*)?\}}"
            rf"|\.catch\(\s*(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:{_CONSTANT}|\{{\s*\}})\s*\)"
        ),
    ),
    Pattern(
        "mock",
        "uses a mock outside the tests",
        "F5",
        python=nodes.imports_mock,
        script=re.compile(
            r"""(?<![\w$.])(?:jest|vi|sinon)\.(?:fn|mock|stub|spyOn)\s*\(|\bfrom\s+["'](?:sinon|@jest/globals|vitest)["']"""
        ),
    ),
    Pattern(
        "unverified-tls",
        "does not verify certificates",
        "F8",
        python=nodes.trusts_any_certificate,
        script=re.compile(r"\b(?:rejectUnauthorized|strictSSL)\s*:\s*false\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b"),
    ),
    Pattern(
        "hushed",
        "hides warnings or errors",
        "F9",
        python=nodes.hides_warnings,
        script=re.compile(r"\bconsole\.(?:error|warn)\s*=(?![=>])"),
    ),
    Pattern("link", "is a new symbolic link", "E7", "all"),
    Pattern(
        "retry",
        "repeats a test that failed, or sets a time-out for it",
        "B9",
        "tests",
        python=nodes.repeats_test,
        script=re.compile(r"\bjest\.(?:retryTimes|setTimeout)\s*\(|\bthis\.(?:retries|timeout)\s*\("),
        once=True,
    ),
    Pattern(
        "any-error",
        "expects any error, whatever it is",
        "C9",
        "tests",
        python=nodes.expects_any_error,
        script=re.compile(r"\.toThrow(?:Error)?\(\s*\)"),
        once=True,
    ),
    Pattern(
        "uncovered",
        "leaves code out of the coverage",
        "B8",
        "all",
        comment=re.compile(r"pragma:\s*no\s*(?:cover|branch)|\b(?:istanbul|c8|v8)\s+ignore\b"),
        once=True,
    ),
    Pattern(
        "silenced-check",
        "silences a linter or type checker",
        "B7",
        "all",
        comment=re.compile(
            r"#\s*noqa\b|#\s*(?:type|pyright|mypy|ty):\s*ignore\b|pylint:\s*disable|#\s*nosec\b|\beslint-disable\b"
            r"|@ts-(?:ignore|nocheck|expect-error)\b|\b(?:biome|prettier)-ignore\b|\boxlint-disable\b|//\s*nolint\b|rubocop:disable|\bNOSONAR\b"
        ),
        once=True,
    ),
)
"""Most telling first. `expected-values` and `link` need more than one place to look at: `literals` and `change` look for them."""

BY_NAME = {row.name: row for row in PATTERNS}
RANK = {row.name: number for number, row in enumerate(PATTERNS)}
