"""The repository names no machine it was written on and no place packages come from, and its documents keep their form."""

import io
import os
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLYBALL = ROOT / "src" / "flyball"
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))

# Put together here so that this file does not hold what it looks for.
MACHINE_FOLDERS = tuple("/" + name for name in ("root", "work", "mnt/data", "Users"))
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("crates", "io"))
)
INDEX_OPTIONS = ("--index-url", "--extra-index-url", "--find-links", "--trusted-host")


def machine_paths() -> re.Pattern[str]:
    names = [*MACHINE_FOLDERS, str(ROOT)]
    home = os.environ.get("HOME", "")
    if len(home) > 1:
        names.append(home)
    return re.compile(r"(?<![\w.~<>{}*/-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")


def kept_files() -> Iterator[tuple[str, str]]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: there is no list of kept files")
    for name in listed.split("\0"):
        path = ROOT / name
        if name and path.is_file():
            yield name, path.read_bytes().decode("utf-8", "replace")


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in kept_files()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    assert lines_with(machine_paths()) == []


def test_no_file_names_a_package_registry() -> None:
    assert lines_with(re.compile("|".join(map(re.escape, REGISTRIES)))) == []


def test_every_rule_that_is_switched_off_in_a_line_has_its_reason_beside_it() -> None:
    bare = re.compile(r"#\s*no" r"qa\b(?!: [A-Z0-9, ]+ - \S)")
    suspects = [(name, text) for name, text in kept_files() if name.endswith(".py") and bare.search(text)]
    found = [
        f"{name}:{token.start[0]}: {token.string[:120]}"
        for name, text in suspects
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and bare.search(token.string)
    ]
    assert found == [], "a string may hold such words, a comment may not"


@pytest.mark.parametrize("folder", MACHINE_FOLDERS)
def test_a_folder_of_the_machine_would_be_found(folder: str) -> None:
    assert machine_paths().search(f"see {folder}/project/x.py")
    assert not machine_paths().search(f"see .{folder}/x, a{folder}/x and {folder}space")


def test_requirement_files_pin_every_package_by_hash_and_name_no_index() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        pinned = re.findall(r"^[a-z0-9].*", text, re.MULTILINE)
        assert pinned, path.name
        assert [line for line in pinned if not re.fullmatch(r"[a-z0-9.-]+==\S+ \\", line)] == []
        assert text.count("--hash=sha256:") >= len(pinned)
        assert [option for option in INDEX_OPTIONS if option in text] == []


def test_decisions_are_numbered_without_gaps_and_have_one_form() -> None:
    numbers = [path.name.partition("-")[0] for path in DECISIONS]
    assert numbers == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]
    for path in DECISIONS:
        text = path.read_text(encoding="utf-8")
        assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", path.name)
        assert text.startswith(f"# {path.name[:4]} "), path.name
        assert re.findall(r"^## (.*)", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], path.name
        assert len(text.splitlines()) <= 60, f"{path.name} is longer than a page"


def test_the_architecture_fits_into_two_hundred_lines() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_the_architecture_names_only_files_and_folders_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.py|/)|(?:tests|docs)/\w+)`", text)) - {".loop/"}
    assert len(named) > 40
    assert {name for name in named if not any((place / name).exists() for place in (ROOT, FLYBALL))} == set()


def test_no_point_of_a_list_stands_twice_in_a_document() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    points = {path.name: re.findall(r"^- .{40,}", path.read_text(encoding="utf-8"), re.MULTILINE) for path in documents}
    assert sum(map(len, points.values())) > 300
    assert [(name, line) for name, lines in points.items() for line in set(lines) if lines.count(line) > 1] == []


def test_links_between_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    missing = [
        f"{document.name}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]
    assert missing == []
