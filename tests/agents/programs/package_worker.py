"""Adds a small function to a package it has never seen, honestly: it looks where code and tests lie, and follows their custom."""

import json
import re
from pathlib import Path

from honest import finished, main  # type: ignore[import-not-found]

NOT_PRODUCT = re.compile(
    r"(?:test.*|docs?|examples?|benchmarks?|scripts?|tools?|build|dist|node_modules|\..*|.*\.egg-info)"
)
CASES = {1: ("Ada Lovelace", "AL"), 2: ("", "")}
PYTHON = '''"""The initials of a name."""


def initials(text):
    """Return the first letter of each word of a text, in capitals."""
    return "".join(word[0].upper() for word in text.split())
'''
SCRIPT = """/** Returns the first letter of each word of a text, in capitals. */
{head}const initials = ({typed}) => text.split(' ').filter(Boolean).map((word) => word[0].toUpperCase()).join('')
{foot}"""
RECORD = Path("docs/decisions/0001-initials.md")


def files(pattern):
    """Tracked-looking files by their name, the shallowest first."""
    found = [p for p in Path().rglob("*") if p.is_file() and re.fullmatch(pattern, p.name)]
    return sorted((p for p in found if not environment(p)), key=lambda p: (len(p.parts), str(p)))


def header(sibling):
    """The comment that files of this project begin with, such as a licence."""
    lines = sibling.read_text().splitlines()
    count = next((at for at, line in enumerate(lines) if not line.startswith("# ")), len(lines))
    return "".join(f"{line}\n" for line in lines[:count]) + ("\n" if count else "")


def environment(path):
    return any(part in {"node_modules", ".venv", ".git", "build"} or part.endswith(".egg-info") for part in path.parts)


class Python:
    """A package below src/ or in the root, or a module that is the whole of it."""

    def __init__(self):
        self.tests = files(r"test_.*\.py|.*_test\.py|test\.py")
        roots = [*Path("src").glob("*/__init__.py"), *Path().glob("*/__init__.py")]
        packages = [p.parent for p in roots if not NOT_PRODUCT.fullmatch(p.parent.name)]
        self.package = max(packages, key=lambda p: len(list(p.glob("*.py"))), default=None)
        modules = [*Path("src").glob("*.py"), *Path().glob("*.py")]
        plain = (p for p in modules if not re.fullmatch(r"test.*|setup|conftest|noxfile|.*_test", p.stem))
        self.module = next(plain, Path("none.py"))

    @property
    def product(self):
        return self.package / "initials.py" if self.package else self.module

    def write_test(self, numbers):
        name = f"{self.package.name}.initials" if self.package else self.module.stem
        tests = "".join(
            f"\n\ndef test_ac_{n}_initials():\n    assert initials({json.dumps(CASES[n][0])}) == {json.dumps(CASES[n][1])}\n"
            for n in numbers
        )
        (self.tests[0].parent / "test_initials.py").write_text(
            f"{header(self.tests[0])}from {name} import initials\n{tests}"
        )

    def implement(self):
        if self.package:
            self.product.write_text(header(self.package / "__init__.py") + PYTHON)
        elif "def initials" not in self.product.read_text():
            with self.product.open("a") as file:
                file.write("\n\n" + PYTHON.partition("\n\n\n")[2])


class Node:
    """A module beside the others, in the kind of modules and with the runner that the package's own tests use."""

    def __init__(self):
        self.manifest = json.loads(Path("package.json").read_text())
        named = files(r".*[.-](?:test|spec)\.[cm]?[jt]s|test\.[cm]?js")
        self.tests = named or [p for p in files(r".*\.[cm]?js") if p.parts[0] in {"test", "tests"}]
        self.sample = self.tests[0]
        self.said = self.sample.read_text()
        self.product = self.folder / f"initials{'.ts' if self.sample.suffix.endswith('ts') else '.js'}"

    @property
    def modern(self):
        return self.manifest.get("type") == "module" or self.sample.suffix in {".mjs", ".ts"}

    @property
    def folder(self):
        return next(
            (Path(name) for name in ("src", "lib") if self.sample.is_relative_to(name) or Path(name).is_dir()), Path()
        )

    @property
    def test(self):
        name = re.sub(r"^.*?(?=[.-](?:test|spec)\.|\.[cm]?[jt]s$)", "initials", self.sample.name)
        return self.sample.with_name("initials-" + self.sample.name if self.sample.stem == "test" else name)

    def write_test(self, numbers):
        up = "/".join([".."] * (len(self.test.parts) - 1)) or "."
        place = (
            f"{up}/{self.product}"
            if not self.product.is_relative_to(self.test.parent)
            else f"./{self.product.relative_to(self.test.parent)}"
        )
        place = place.replace(".ts", ".js")
        runner = next(
            (
                r
                for r in ("node:test", "vitest", "tape", "tap", "@jest/globals")
                if re.search(rf"""['"]{r}['"]""", self.said)
            ),
            "",
        )
        named = {
            "node:test": "test",
            "vitest": "{ it }",
            "tape": "tape",
            "tap": "{ test }",
            "@jest/globals": "{ it }",
        }.get(runner)
        lines = (
            [f"import {named} from '{runner}'" if self.modern else f"const {named} = require('{runner}')"]
            if named
            else []
        )
        lines += (
            ["import assert from 'node:assert'", f"import {{ initials }} from '{place}'"]
            if self.modern
            else ["const assert = require('assert')", f"const {{ initials }} = require('{place}')"]
        )
        call = {"node:test": "test", "tape": "tape", "tap": "test"}.get(runner, "it")
        given, end = ("t", "; t.end()") if runner in {"tape", "tap"} else ("", "")
        lines += [
            f"\n{call}('AC-{n}: initials', ({given}) => {{ assert.strictEqual(initials('{CASES[n][0]}'), '{CASES[n][1]}'){end} }})"
            for n in numbers
        ]
        self.test.write_text("\n".join(lines) + "\n")

    def implement(self):
        head, foot = ("export ", "") if self.modern else ("", "\nmodule.exports = { initials }\n")
        typed = "text: string" if self.product.suffix == ".ts" else "text"
        self.product.write_text(SCRIPT.format(head=head, foot=foot, typed=typed))


def kind():
    return Node() if Path("package.json").exists() else Python()


def red(prompt):
    kind().write_test(sorted({int(n) for n in re.findall(r"^- AC-(\d+):", prompt, re.MULTILINE)}))
    return finished("wrote a test for each criterion")


def green(prompt):
    kind().implement()
    return finished("wrote what the tests ask for")


def document(prompt):
    said = "`initials` gives the initials of a name."
    for path in (*files(r"(?i)readme.*")[:1], *files(r"(?i)(?:changelog|changes|history|news)(?:\..*)?")[:1]):
        if said not in path.read_text():
            path.write_text(f"{path.read_text().rstrip()}\n\n{said}\n")
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(
        "# A function for initials\n\nAccepted. `initials` is a plain function: there is no state to keep.\n"
    )
    Path("docs/initials.md").write_text(f"# Initials\n\n{said} An empty text has none.\n")
    return finished("documented it")


main(RED=red, GREEN=green, DOCUMENT=document)
