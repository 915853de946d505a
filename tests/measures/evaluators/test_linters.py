"""The linters of evaluators: which pass a finding belongs to, and what excuses it."""

import pytest
from tests.measures.evaluators.planted import trees_of

from flyball.measures.evaluators.sources.linters import Linters

pytestmark = pytest.mark.req("D22")


def defects(trees, name: str):
    return [each for look in Linters(trees).looks(name) for each in look(trees.head)]


def test_an_unused_variable_is_dead_code_and_an_unused_import_a_pattern(tmp_path):
    files = {
        "a.py": "import os\n\n\ndef f() -> int:\n    left = 1\n    return 2\n",
        "b.ts": 'import { x } from "./c";\nexport function g(seen: string): number {\n  const left = 1;\n  return 2;\n}\n',
    }
    trees = trees_of(tmp_path, files)
    told = {name: {(each.file, each.line) for each in defects(trees, name)} for name in ("patterns", "dead code")}  # fmt: skip
    assert told == {"patterns": {("a.py", 1), ("b.ts", 1)}, "dead code": {("a.py", 5), ("b.ts", 3)}}


@pytest.mark.req("D23")
def test_a_quick_hash_is_wrong_for_a_password_and_right_for_a_checksum(tmp_path):
    text = "import hashlib\nfrom hashlib import sha1\n\n\ndef check(body, stored):\n    given = body['password'].encode()\n    return hashlib.md5(given).hexdigest() == stored\n\n\ndef store(passwd):\n    return sha1(passwd).hexdigest()\n\n\ndef etag(body):\n    return hashlib.md5(body).hexdigest()\n"
    trees = trees_of(tmp_path, {"a.py": text})
    assert [each.line for each in defects(trees, "auth flow")] == [7, 11]
