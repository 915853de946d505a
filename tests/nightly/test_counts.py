"""C7, C8: published packages of different build back ends have the same test counts in `flyball init` as by hand."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from tests.e2e.test_packages import Package, Place, pypi, tools, unpacked, unreachable

pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.req("C7", "C8")]
Counted = tuple[int, int, int]


class Published(msgspec.Struct, frozen=True):
    """A package with what a person would type to install it for its tests, and what its set-up writes into the tree."""

    package: Package
    install: str
    ignored: str = ""
    tag: str = ""


PYTHON = [
    # hatch-vcs writes an ignored version file while it builds.
    Published(pypi("humanize", "4.13.0"), "-e .[tests]", "src/humanize/_version.py", tag="4.13.0"),
    # setuptools with its metadata in setup.cfg.
    Published(pypi("cachetools", "5.5.0"), "-e . pytest"),
    # setuptools-scm with a version file.
    Published(pypi("iniconfig", "2.3.0"), "-e . pytest", "src/iniconfig/_version.py", tag="v2.3.0"),
    # poetry.
    Published(pypi("tomlkit", "0.13.2"), "-e . pytest pyyaml"),
    # flit.
    Published(pypi("itsdangerous", "2.2.0"), "-e . pytest freezegun"),
    # A C extension, compiled in place.
    Published(pypi("markupsafe", "3.0.2"), "-e . pytest"),
]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=folder, env={**os.environ, **tools()},
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip


def counted(report: Path) -> Counted:
    """Passed, failed and skipped tests of a JUnit report."""
    cases = list(ET.parse(report).getroot().iter("testcase"))
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def counted_by_init(place: Place) -> tuple[Counted, dict[str, Any]]:
    done = place.flyball("init", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0, said
    (gate,) = said["gates"]
    counts = gate["counts"]
    failing = counts.get("failing", 0) + counts.get("known_failing", 0)
    return (counts["passing"], failing, counts.get("skipped", 0)), said


def commit(root: Path, *, ignored: str, tag: str) -> None:
    """Have git forget what the build writes, as it does in the project's own repository."""
    known = root / ".gitignore"
    text = known.read_text() if known.exists() else ""
    known.write_text(f"{text}\n{ignored}\n.venv/\n__pycache__/\n")
    git = "git -c user.name=t -c user.email=t@example.org"
    forget = f"git rm -q --cached --ignore-unmatch {ignored} && rm -f {ignored} && " if ignored else ""
    version = f" && git tag {tag}" if tag else ""
    done = shell(f"{forget}git add -A && {git} commit -q -m Ignore{version}", root)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("published", PYTHON, ids=lambda each: each.package.name)
def test_a_package_of_each_build_back_end_has_the_counts_it_has_by_hand(published: Published, tmp_path: Path) -> None:
    if why := unreachable("pypi"):
        pytest.skip(why)
    place = Place(tmp_path)
    unpacked(published.package, place.root)
    commit(place.root, ignored=published.ignored, tag=published.tag)
    hand, report = tmp_path / "by-hand", tmp_path / "by-hand.xml"
    shell(f"git clone -q {place.root} {hand}", tmp_path)
    venv = f"{sys.executable} -m venv .venv && .venv/bin/python -m pip install -q {published.install}"
    ready = shell(venv, hand)
    assert ready.returncode == 0, ready.stderr
    shell(f".venv/bin/python -m pytest -q --junitxml={report}", hand)
    expected = counted(report)
    assert expected[0] > 0
    found, said = counted_by_init(place)
    print(f"{published.package.name}: by hand {expected}, in init {found} (passed, failed, skipped)")
    assert found == expected, said


WORKSPACES = {
    "package.json": '{"name": "shop", "private": true, "scripts": {"test": "vitest run"}, "workspaces": ["packages/*"],'
    ' "devDependencies": {"vitest": "^3"}}\n',
    "packages/money/package.json": '{"name": "@shop/money", "version": "1.0.0", "type": "module", "main": "index.js"}\n',
    "packages/money/index.js": "export const cents = (amount) => Math.round(amount * 100)\n",
    "packages/cart/package.json": '{"name": "@shop/cart", "version": "1.0.0", "type": "module",'
    ' "dependencies": {"@shop/money": "workspace:*"}}\n',
    "packages/cart/total.js": "import { cents } from '@shop/money'\nexport const total = (prices) => prices.reduce((sum, p) => sum + cents(p), 0)\n",
    "packages/cart/total.test.js": "import { expect, test } from 'vitest'\nimport { total } from './total.js'\n"
    "test('adds cents', () => expect(total([1, 2.5])).toBe(350))\ntest('nothing', () => expect(total([])).toBe(0))\n",
    "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
    ".gitignore": "node_modules/\n",
}


def test_pnpm_workspaces_have_the_counts_they_have_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := unreachable("npm"):
        pytest.skip(why)
    shell(f"npm install --silent --prefix {tmp_path / 'tools'} pnpm@9", tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools/node_modules/.bin'}:{os.environ['PATH']}")
    place = Place(tmp_path)
    for name, text in WORKSPACES.items():
        (place.root / name).parent.mkdir(parents=True, exist_ok=True)
        (place.root / name).write_text(text)
    installed = shell("pnpm install", place.root)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    report = tmp_path / "by-hand.xml"
    shell(f"npx vitest run --reporter=junit --outputFile={report}", place.root)
    expected = counted(report)
    assert expected == (2, 0, 0)
    git = "git -c user.name=t -c user.email=t@example.org"
    made = shell(
        f"rm -rf node_modules packages/*/node_modules && git init -q -b main && git add -A && {git} commit -q -m Start",
        place.root,
    )
    assert made.returncode == 0, made.stderr
    found, said = counted_by_init(place)
    assert found == expected, said
