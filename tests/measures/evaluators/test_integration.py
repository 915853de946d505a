"""integration: contracts, guards, migrations, variables, by known lines."""

import os

import pytest
from tests.measures.evaluators.planted import found, options, trees_of

from flyball.core.evaluation.findings import judged_by
from flyball.measures.evaluators import integration
from flyball.measures.evaluators.ground import SourceTree
from flyball.measures.evaluators.services import contract_changes, contracts, guards, surroundings
from flyball.measures.evaluators.sources.linters import Linters
from flyball.measures.evaluators.sources.syntax import Syntax
from flyball.measures.evaluators.tables import columns, migrations

pytestmark = pytest.mark.req("D23")

OLD = """openapi: 3.0.0
paths:
  /a:
    get:
      responses: {"200": {description: x}}
    post:
      parameters: [{name: q, in: query}]
      responses: {"200": {description: x}}
components:
  schemas:
    A: {type: object, properties: {n: {type: integer}, m: {type: string}}}
"""


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('    get:\n      responses: {"200": {description: x}}\n', "", "operation-gone"),
        ("{name: q, in: query}", "{name: q, in: query, required: true}", "parameter-required"),
        ("n: {type: integer}", "n: {type: string}", "field-type"),
        ("n: {type: integer}, ", "", "field-gone"),
        ('get:\n      responses: {"200"', 'get:\n      responses: {"404"', "response-gone"),
    ],
)
def test_what_would_break_somebody_is_found(tmp_path, old, new, rule):
    changed = OLD.replace(old, new)
    assert changed != OLD
    trees = trees_of(tmp_path, {"openapi.yaml": changed}, {"openapi.yaml": OLD})
    assert [each.rule for each in contract_changes.breaking_changes(trees)] == [rule]


INLINE = """openapi: 3.0.0
paths:
  /a:
    get:
      responses: {"200": {description: x, content: {application/json: {schema: {type: array, items: {properties: {n: {type: integer}}}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {type: object, properties: {m: {type: string}}}}}}
      responses: {"201": {description: x, content: {application/json: {schema: {properties: {o: {type: string}}}}}}}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{n: {type: integer}}", "{name: {type: integer}}", ("field-gone", "get /a 200: n is gone", 3)),
        ("o: {type: string}", "o: {type: integer}", ("field-type", "post /a 201: o was string and is integer", 3)),
        ("{m: {type: string}}", "{m: {type: string}}, required: [m]", ("field-required", "post /a body: m is required now", 3)),
        ("{o: {type: string}}", "{o: {type: string}, p: {type: string}}, required: [o]", None),
    ],
)  # fmt: skip
def test_an_answer_or_a_body_that_is_described_in_place_is_compared_too(tmp_path, old, new, told):
    assert old in INLINE
    trees = trees_of(tmp_path, {"openapi.yaml": INLINE.replace(old, new)}, {"openapi.yaml": INLINE})
    assert [(each.rule, each.message, each.line) for each in contract_changes.breaking_changes(trees)] == (
        [told] if told else []
    )


def test_a_document_in_json_is_told_by_its_lines_too(tmp_path):
    old = '{\n"openapi": "3.1.0",\n"paths": {},\n"components": {"schemas": {\n"A": {"properties": {\n"n": {"type": "integer"}\n}}}}}\n'
    trees = trees_of(tmp_path, {"openapi.json": old.replace("integer", "string")}, {"openapi.json": old})
    assert [(each.rule, each.line) for each in contract_changes.breaking_changes(trees)] == [("field-type", 6)]


def test_what_only_adds_breaks_nobody_and_a_document_that_is_gone_does(tmp_path):
    more = OLD.replace("  /a:\n", '  /b:\n    get:\n      responses: {"200": {description: y}}\n  /a:\n').replace(
        "m: {type: string}", "m: {type: string}, o: {type: string}"
    )
    trees = trees_of(tmp_path / "a", {"openapi.yaml": more}, {"openapi.yaml": OLD})
    assert list(contract_changes.breaking_changes(trees)) == []
    gone = contract_changes.breaking_changes(trees_of(tmp_path / "b", {"x.txt": ""}, {"openapi.yaml": OLD}))
    assert [each.rule for each in gone] == ["contract-gone"]


def test_an_unsound_document_is_told_with_its_line(tmp_path):
    text = "openapi: 3.0.0\npaths:\n  /a/{id}:\n    get:\n      responses:\n        '200':\n          $ref: '#/components/responses/None'\n"
    tree = trees_of(
        tmp_path, {"api.yaml": text, "bad.yaml": "openapi: 3\npaths: [\n", "list.yaml": "openapi: 3\npaths: {}\n"}
    ).head
    assert [(each.rule, each.file, each.line) for each in contracts.unsound_parts(tree)] == [
        ("undefined-reference", "api.yaml", 7),
        ("parameter-undeclared", "api.yaml", 3),
        ("unreadable", "bad.yaml", 1),
    ]


def test_routes_of_three_frameworks_are_read(tmp_path):
    files = {
        "a.py": 'from fastapi import FastAPI\napp = FastAPI()\n@app.get("/x/{id}")\ndef x(): ...\n',
        "b.py": 'from flask import Flask\napp = Flask(__name__)\n@app.route("/y/<int:id>", methods=["POST", "GET"])\ndef y(): ...\n@app.get("/v/<string(length=2):code>/<rest>")\ndef v(): ...\n',
        "c.js": 'import express from "express";\nconst app = express();\napp.delete("/z/:id", (a, b) => b.end());\n',
    }
    tree = trees_of(tmp_path, files).head
    told = {(each.method, each.path, each.file, each.line) for each in contracts.routes(tree)}
    assert told == {
        ("get", "/x/{id}", "a.py", 3),
        ("post", "/y/{id}", "b.py", 3),
        ("get", "/y/{id}", "b.py", 3),
        ("get", "/v/{code}/{rest}", "b.py", 5),
        ("delete", "/z/{id}", "c.js", 3),
    }


@pytest.mark.parametrize("extra", ["", "app.use(requireUser);\n"])
def test_a_route_without_guard_beside_guarded_ones_is_named_unless_all_are_guarded(tmp_path, extra):
    text = f'import express from "express";\nconst app = express();\n{extra}app.post("/a", requireUser, (q, r) => r.end());\napp.put("/b", (q, r) => r.end());\n'
    told = guards.unguarded_routes(trees_of(tmp_path, {"s.js": text}).head)
    assert [each.line for each in told] == ([] if extra else [4])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('app.get("/a", requireUser, show);\napp.post("/b", (q, r) => r.end());\n', [3]),
        ('app.get("/a", show);\napp.post("/b", (q, r) => r.end());\n', []),
        ('app.get("/sessions", isAdmin, show);\napp.delete("/sessions/:id", (q, r) => r.end());\n', [3]),
        ('app.post("/b", make);\napp.get("/a", requireUser, show);\n', [2]),
        ('app.get("/a", requireUser, show);\napp.post("/login", (q, r) => r.end());\n', []),
    ],
)
def test_a_guard_of_a_route_that_reads_is_a_guard_beside_too(tmp_path, text, lines):
    told = guards.unguarded_routes(trees_of(tmp_path, {"s.js": f"// express\n{text}"}).head)
    assert [each.line for each in told] == lines


GUARD = "def citizen(\n    authorization: Annotated[str, Header()] = '',\n) -> str:\n    if not authorization:\n        raise HTTPException(401)\n    return authorization\n\n\nCitizen = Annotated[\n    str, Depends(citizen)\n]\n"
DATABASE = "def session():\n    with Session(engine()) as opened:\n        yield opened\n\n\nDb = Annotated[Session, Depends(session)]\n"


@pytest.mark.parametrize(
    ("reads", "writes", "lines"),
    [
        ("db: Db, who: Citizen", "item: Item, db: Db", [16]),
        ("db: Db, who: Citizen", "item: Item, who: Citizen", []),
        ("db: Db, who: str = Depends(citizen)", "item: Item, who: str = Depends(citizen)", []),
        ("db: Db", "item: Item", []),
    ],
)
def test_a_dependency_that_turns_callers_away_is_a_guard_whatever_its_name(tmp_path, reads, writes, lines):
    text = f"from fastapi import FastAPI\nfrom shop.who import Citizen\n\napp = FastAPI()\n\n\n{DATABASE}@app.get('/a')\ndef a({reads}): ...\n\n@app.post('/b')\ndef b({writes}): ...\n"
    told = guards.unguarded_routes(trees_of(tmp_path, {"shop/app.py": text, "shop/who.py": GUARD}).head)
    assert [each.line for each in told] == lines


def test_a_connection_to_the_database_is_no_guard(tmp_path):
    text = 'from fastapi import FastAPI\napp = FastAPI()\n@app.get("/a")\ndef a(db: Session = Depends(get_db)): ...\n@app.post("/b")\ndef b(item: Item): ...\n'
    assert list(guards.unguarded_routes(trees_of(tmp_path, {"a.py": text}).head)) == []


def test_secrets_in_a_committed_file_of_variables_are_found_and_plain_settings_are_not(tmp_path):
    files = {
        ".env": "PORT=3000\nSECRET_KEY=9f2c61d07be84ac3\nAPI_TOKEN=\nDB=postgres://app:hunter2x@db.internal/app\n",
        "web/.env.production": "export STRIPE_API_KEY='abc123def456'\nPUBLIC_URL=https://x.example\n",
        ".env.example": "SECRET_KEY=9f2c61d07be84ac3\n",
        ".env.local": "DB_PASSWORD=change-me-please\nDB=postgres://app:app@localhost/app\nJWT_SECRET=${VAULT_SECRET}\n",
    }
    told = surroundings.committed_secrets(trees_of(tmp_path, files).head)
    assert {(each.file, each.line) for each in told} == {(".env", 2), (".env", 4), ("web/.env.production", 1)}


def test_two_things_wrong_with_one_call_are_told_once_and_what_is_around_it_too(tmp_path):
    text = "import requests\n\n\ndef f(u):\n    while True:\n        try:\n            return requests.get(u).json()\n        except requests.RequestException:\n            continue\n"
    trees = trees_of(tmp_path, {"a.py": text})
    result = integration._recovery(trees, Linters(trees), Syntax(trees.toolbox))
    assert found([result], "error recovery") == ["a.py:5 endless-retry", "a.py:7 S113"]


@pytest.mark.slow
def test_migrations_are_read_by_squawk_and_foreign_keys_want_an_index(tmp_path):
    sql = "CREATE TABLE a (\n  id bigint PRIMARY KEY,\n  b_id bigint REFERENCES b (id),\n  c_id bigint REFERENCES c (id)\n);\nCREATE INDEX a_c ON a (c_id);\nALTER TABLE b DROP COLUMN x;\n"
    trees = trees_of(
        tmp_path,
        {"migrations/1.sql": sql, "m.py": "class A:\n    b_id = Column(Integer)\n    d_id = mapped_column(Integer)\n"},
    )
    told = {(each.rule, each.line) for each in migrations.sql_defects(trees, trees.head)}
    assert ("foreign-key-index", 3) in told
    assert ("foreign-key-index", 4) not in told
    assert ("squawk/ban-drop-column", 7) in told
    assert [
        (each.file, each.line) for each in columns.unmigrated_columns(trees, migrations.migration_files(trees.head))
    ] == [("m.py", 3)]


def test_every_way_to_read_a_variable_is_known(tmp_path):
    files = {
        ".env.example": "A=\n# B=\nexport C=1\n",
        "a.py": 'import os\nos.environ["A"]\nos.environ.get("B")\nos.getenv("C")\nos.environ["D"]\nos.environ.setdefault("E", "")\n# os.environ["F"]\nos.environ["HOME"]\n',
        "b.ts": "process.env.G;\nprocess.env['H'];\nimport.meta.env.I;\nconst { J, K: k, A = \"https://x.example/v1\", C = f(1, z) } = process.env;\n// process.env.L\nprocess.env.NODE_ENV;\n",
        "tests/test_a.py": 'import os\nos.environ["ONLY_IN_TESTS"]\n',
    }
    trees = trees_of(tmp_path, files)
    told = surroundings.unnamed_variables(Syntax(trees.toolbox), trees.head)
    assert {each.message.split(" ")[0] for each in told} == set("DEGHIJK")


@pytest.mark.slow
def test_secrets_are_found_and_look_alikes_are_not(tmp_path):
    files = {
        "a.py": 'api_key = "f3a9c1d27b6e4085ab12"\nTOKEN_URL = "https://x.example/oauth2/token"\nPASSWORD_FIELD = "password_2_field"\ntoken = get_token()\n',
        "b.js": 'const password = "hunter2-staple-99";\nconst tokenName = "x-token-2-header";\n',
        "tests/test_a.py": 'api_key = "f3a9c1d27b6e4085ab12"\n',
    }
    trees = trees_of(tmp_path, files)
    told = surroundings.secrets(trees.toolbox, Syntax(trees.toolbox), trees.head)
    assert {(each.file, each.line) for each in told} == {("a.py", 1), ("b.js", 1)}


@pytest.mark.slow
def test_calls_that_bring_their_own_time_out_can_be_named(tmp_path):
    files = {"a.py": "import requests\n\nrequests.get('x')\nrequests.post('x')\n"}
    trees = trees_of(tmp_path, files, options=options(safe_calls=("requests.post(",)))
    result = integration._recovery(trees, Linters(trees), Syntax(trees.toolbox))
    assert found([result], "error recovery") == ["a.py:3 S113"]


def test_a_huge_diff_is_listed_in_part_and_counted_whole():
    from flyball.core.evaluation.findings import SHOWN, Changes, TrackDefect

    many = [TrackDefect("R", f"m{n}", "a.py", n, text=f"{n}") for n in range(1, 50_001)]
    result = judged_by("patterns", many, (), Changes({"a.py": ((1, 50_000),)}))
    assert len(result.findings) == SHOWN
    assert "49800 more" in result.notes[0]


def test_files_that_are_too_large_or_no_text_are_passed_over(tmp_path):
    (tmp_path / "big.py").write_text("x = 1\n" * 200_000)
    (tmp_path / "odd.py").write_bytes(b"\xff\xfe")
    os.symlink("/etc/hostname", tmp_path / "link.py")
    tree = SourceTree(tmp_path, ("big.py", "odd.py", "link.py", "none.py"))
    assert [tree.text(path) for path in tree.files] == ["", "", "", ""]
