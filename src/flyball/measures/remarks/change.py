"""One pass over a change: what a reviewer should look at, with file and line. It decides nothing."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

import msgspec

from flyball.core.model.measurement import Remark
from flyball.core.model.task import Commit
from flyball.core.text.quantities import plural
from flyball.measures.remarks.hits import Hit, find_hits
from flyball.measures.remarks.literals import MOST_PAIRS, Assertion, Assertions, assertions_in, find_held
from flyball.measures.remarks.patterns import BY_NAME, RANK
from flyball.measures.sources import Read, is_code, is_script, is_test_file, looks_like_test
from flyball.measures.tampering.protected import changed_paths
from flyball.ports import Trees

MOST_FILES = 300
LARGEST = 512 * 1024
MOST_BYTES = 4 * 1024 * 1024
_DATA = frozenset({".json", ".yaml", ".yml", ".toml", ".csv", ".tsv", ".txt", ".ini"})
_BUILD = frozenset({"setup.py", "noxfile.py", "conftest.py", "tasks.py"})


class ChangedTree(msgspec.Struct, frozen=True):
    """Both trees of a change: how their files are read, which paths differ, all files of the candidate, and its new links."""

    before: Read
    after: Read
    changed: Sequence[str]
    files: Collection[str]
    new_links: Collection[str] = ()


class RemarksMade(msgspec.Struct, frozen=True):
    remarks: tuple[Remark, ...] = ()
    notes: tuple[str, ...] = ()


def changed_tree(workspace: Trees, base: Commit, candidate: Commit) -> ChangedTree:
    changed = changed_paths(workspace, base, candidate)
    return ChangedTree(
        partial(workspace.read_file, base),
        partial(workspace.read_file, candidate),
        changed,
        workspace.list_files(candidate),
        workspace.links(candidate) - workspace.links(base),
    )


def make_remarks(tree: ChangedTree) -> RemarksMade:
    """What the change brought that a row of the table describes; what stood before, wherever, does not count."""
    sources, passed_over = _sources(tree)
    own = frozenset(
        part.removesuffix(".py") for path in tree.files if path.endswith(".py") for part in PurePosixPath(path).parts
    )
    after = _hits({path: new for path, (_, new) in sources.items()}, own)
    before = _hits({path: old for path, (old, _) in sources.items()}, own) if after else []
    found = [*_group(_new_hits(before, after)), *_values_of_assertions(tree, sources)]
    found += [("link", Remark(path, 0, BY_NAME["link"].text)) for path in sorted(tree.new_links)]
    found.sort(key=lambda each: (RANK[each[0]], each[1].file, each[1].line))
    files = plural(passed_over, "changed file")
    notes = (f"{files} not read for remarks: too large, or too many",) if passed_over else ()
    return RemarksMade(tuple(remark for _, remark in found), notes)


def _sources(tree: ChangedTree) -> tuple[dict[str, tuple[bytes | None, bytes | None]], int]:
    """The changed files that are read, in both versions, and how many are passed over: code first, data after it."""
    found: dict[str, tuple[bytes | None, bytes | None]] = {}
    wanted = [path for path in tree.changed if (is_code(path) or _is_data(path)) and path not in tree.new_links]
    size = passed_over = 0
    for path in sorted(wanted, key=lambda path: not is_code(path)):
        if len(found) >= MOST_FILES or size >= MOST_BYTES:
            passed_over += 1
            continue
        old, new = tree.before(path), tree.after(path)
        if max(len(old or b""), len(new or b"")) > LARGEST:
            passed_over += 1
            continue
        size += len(old or b"") + len(new or b"")
        found[path] = old, new
    return found, passed_over


def _hits(sources: Mapping[str, bytes | None], own: frozenset[str]) -> list[tuple[str, Hit]]:
    return [
        (path, hit)
        for path, source in sources.items()
        if source and is_code(path)
        for hit in find_hits(path, source, own, in_tests=looks_like_test(path) and is_test_file(path, source))
    ]


def _is_data(path: str) -> bool:
    place = PurePosixPath(path)
    return place.suffix in _DATA and "lock" not in place.name and not looks_like_test(path)


def _new_hits(before: Iterable[tuple[str, Hit]], after: Sequence[tuple[str, Hit]]) -> Iterator[tuple[str, Hit]]:
    """The hits that the base lacks: one that stood in the same function is known, then one that moved or was renamed."""
    there = [hit for _, hit in before]
    exact = Counter((hit.row, hit.scope, hit.text) for hit in there)
    loose = Counter((hit.row, hit.text) for hit in there)
    unknown: list[tuple[str, Hit]] = []
    for path, hit in after:
        if exact[hit.row, hit.scope, hit.text] > 0:
            exact[hit.row, hit.scope, hit.text] -= 1
            loose[hit.row, hit.text] -= 1
        else:
            unknown.append((path, hit))
    for path, hit in unknown:
        loose[hit.row, hit.text] -= 1
        if loose[hit.row, hit.text] < 0:
            yield path, hit


def _group(hits: Iterable[tuple[str, Hit]]) -> Iterator[tuple[str, Remark]]:
    """One remark for each row and file, or for each row, at the first place and with the number of others."""
    groups: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for path, hit in hits:
        if hit.row != "test-files" or PurePosixPath(path).name not in _BUILD:
            group = "" if BY_NAME[hit.row].once else path
            groups.setdefault((hit.row, group), []).append((path, hit.line))
    for (row, group), places in groups.items():
        more = len(set(places)) - 1
        where = " in this file" if group else ""
        also = f" (and {plural(more, 'other place')}{where})" if more else ""
        yield row, Remark(*min(places), BY_NAME[row].text + also)


def _values_of_assertions(
    tree: ChangedTree, sources: dict[str, tuple[bytes | None, bytes | None]]
) -> Iterator[tuple[str, Remark]]:
    """The changed product and data files that hold both an argument and the expected value of an assertion."""
    product = {
        p: s
        for p, s in sources.items()
        if not looks_like_test(p) and (p.endswith(".py") or is_script(p) or _is_data(p))
    }
    if not any(new for _, new in product.values()):
        return
    assertions = Assertions(islice(_assertions(tree), MOST_PAIRS))
    for path, (old, new) in product.items():
        held = find_held(path, old, new, assertions) if new else None
        if held is not None:
            yield "expected-values", Remark(path, held.line, held.text)


def _assertions(tree: ChangedTree) -> Iterator[Assertion]:
    """The assertions of the tests: first those that the change touches."""
    changed = frozenset(tree.changed)
    tests = [path for path in tree.files if looks_like_test(path) and (path.endswith(".py") or is_script(path))]
    size = 0
    for path in sorted(tests, key=lambda path: (path not in changed, path))[:MOST_FILES]:
        source = tree.after(path) or b""
        size += len(source)
        if size > MOST_BYTES:
            return
        if len(source) <= LARGEST:
            yield from assertions_in(path, source)
