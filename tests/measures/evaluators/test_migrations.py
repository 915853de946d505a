"""integration: migrations of Alembic and the models they are for, read and not run."""

import pytest
from tests.measures.evaluators.planted import trees_of

from flyball.measures.evaluators.tables.columns import mapped_tables, unmade_columns, unmigrated_columns
from flyball.measures.evaluators.tables.migrations import alembic_defects, migration_files

pytestmark = pytest.mark.req("D23")
FILE = "migrations/versions/0002_more.py"


def migration(upgrade: str, downgrade: str = "op.execute('x')") -> str:
    body = "".join(f"    {line}\n" for line in upgrade.split("\n"))
    return f"import sqlalchemy as sa\nfrom alembic import op\n\nrevision = '2'\n\n\ndef upgrade():\n{body}\n\ndef downgrade():\n    {downgrade}\n"


def rules(folder, text: str) -> list[tuple[str, int]]:
    trees = trees_of(folder, {FILE: text})
    return [(each.rule, each.line) for each in alembic_defects(trees.head)]


@pytest.mark.parametrize(
    ("upgrade", "rule"),
    [
        ("op.add_column('users', sa.Column('age', sa.Integer(), nullable=False))", "adding-required-field"),
        ("op.add_column('users', sa.Column('age', sa.Integer(), server_default=None, nullable=False), schema='a')", "adding-required-field"),
        ("op.add_column(table_name='users', column=Column('age', Integer, nullable=False))", "adding-required-field"),
        ("with op.batch_alter_table('users') as batch_op: batch_op.add_column(sa.Column('age', sa.Integer, nullable=False))", "adding-required-field"),
        ("with op.batch_alter_table('users', schema=None) as b: b.drop_column('age')", "ban-drop-column"),
        ("op.drop_column('users', 'age')", "ban-drop-column"),
        ("op.drop_column(table_name='users', column_name='age')", "ban-drop-column"),
        ("op.drop_table('users')", "ban-drop-table"),
        ("op.rename_table('users', 'people')", "renaming-table"),
        ("op.alter_column('users', 'age', new_column_name='years')", "renaming-column"),
    ],
)  # fmt: skip
def test_a_step_that_breaks_data_or_clients_is_found_at_its_line(tmp_path, upgrade, rule):
    assert rules(tmp_path, migration(upgrade)) == [(f"squawk/{rule}", 8)]


@pytest.mark.parametrize(
    "upgrade",
    [
        "op.add_column('users', sa.Column('age', sa.Integer()))",
        "op.add_column('users', sa.Column('age', sa.Integer(), nullable=False, server_default='0'))",
        "op.add_column('users', sa.Column('age', sa.Integer(), nullable=True))",
        "op.add_column('users', sa.Column('sum', sa.Integer(), sa.Computed('a + b'), nullable=False))",
        "op.create_table('t', sa.Column('a', sa.Integer))\nop.add_column('t', sa.Column('b', sa.Integer, nullable=False))",
        "op.alter_column('users', 'age', nullable=False)",
        "op.create_index('i', 'users', ['age'])",
        "op.add_column(table, made())",
        "pass",
    ],
)
def test_a_step_that_harms_nobody_is_let_be(tmp_path, upgrade):
    assert rules(tmp_path, migration(upgrade)) == []


@pytest.mark.parametrize("downgrade", ["pass", "...", "'''Nothing to do.'''"])
def test_an_upgrade_without_a_way_back_is_found(tmp_path, downgrade):
    text = migration("op.create_table('t', sa.Column('a', sa.Integer))", downgrade)
    assert rules(tmp_path / "a", text) == [("no-way-back", 11)]
    assert rules(tmp_path / "b", migration("pass", downgrade)) == []


def test_a_downgrade_that_refuses_or_works_is_a_way_back(tmp_path):
    upgrade = "op.create_table('t', sa.Column('a', sa.Integer))"
    assert rules(tmp_path / "a", migration(upgrade, "raise NotImplementedError('the old values are gone')")) == []
    assert rules(tmp_path / "b", migration(upgrade, "op.drop_table('t')")) == []
    assert rules(tmp_path / "c", "def upgrade(:\n# alembic") == []


BEFORE = """class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
"""
FIRST = migration("op.create_table('users', sa.Column('id', sa.Integer), sa.Column('name', sa.String))")


def missing(folder, models: str, *, steps: str = "", files: dict[str, str] | None = None) -> list[tuple[int, str]]:
    known = {"migrations/versions/1.py": FIRST}
    head = {"models.py": models, **known, **({FILE: migration(steps)} if steps else {}), **(files or {})}
    trees = trees_of(folder, head, {"models.py": BEFORE, **known})
    return [
        (each.line, each.message.split(" is new")[0]) for each in unmigrated_columns(trees, migration_files(trees.head))
    ]


@pytest.mark.parametrize(
    "column",
    [
        "born: Mapped[datetime.date | None]",
        "born: Mapped[date] = mapped_column(Date)",
        "born = Column(Date)",
        "born = db.Column(db.Date, nullable=True)",
        "day: orm.Mapped[date] = orm.mapped_column('born', Date)",
    ],
)
def test_a_column_of_a_model_wants_a_migration_of_its_table(tmp_path, column):
    models = f"{BEFORE}    {column}\n"
    assert missing(tmp_path / "a", models) == [(5, "the column born")]
    assert missing(tmp_path / "b", models, steps="op.add_column('users', sa.Column('born', sa.Date))") == []
    assert missing(tmp_path / "c", models, steps="op.add_column('pets', sa.Column('born', sa.Date))") == [(5, "the column born")]  # fmt: skip
    assert missing(tmp_path / "d", models, files={"migrations/3.sql": "ALTER TABLE users ADD COLUMN born date;\n"}) == []  # fmt: skip


def test_a_statement_about_another_table_that_names_this_one_adds_nothing_to_it(tmp_path):
    models = f"{BEFORE}    phone: Mapped[str]\n"
    sql = "CREATE TABLE pets (\n  owner bigint REFERENCES users (id),\n  phone text\n);\n"
    assert missing(tmp_path / "a", models, files={"migrations/3.sql": sql}) == [(5, "the column phone")]
    made = "op.create_table('pets', sa.Column('owner', sa.ForeignKey('users.id')), sa.Column('phone', sa.String))"
    assert missing(tmp_path / "b", models, steps=made) == [(5, "the column phone")]


def test_a_table_with_a_new_name_keeps_its_columns(tmp_path):
    models = BEFORE.replace('"users"', '"people"')
    assert missing(tmp_path / "a", models, steps="op.rename_table('users', 'people')") == []
    assert missing(tmp_path / "b", models) == [(1, "the table people")]


def test_a_table_of_a_model_wants_a_migration_and_is_told_once(tmp_path):
    models = f'{BEFORE}\n\nclass Pet(Base):\n    """A pet."""\n    __tablename__ = "pets"\n    id: Mapped[int] = mapped_column(primary_key=True)\n    name: Mapped[str]\n'
    assert missing(tmp_path / "a", models) == [(7, "the table pets")]
    made = "op.create_table('pets', sa.Column('id', sa.Integer), sa.Column('name', sa.String))"
    assert missing(tmp_path / "b", models, steps=made) == []
    assert missing(tmp_path / "c", models, steps="op.create_table('pets', sa.Column('id', sa.Integer))") == [(11, "the column name")]  # fmt: skip
    assert missing(tmp_path / "d", models, steps="Base.metadata.create_all(op.get_bind())") == []


def test_relationships_and_moved_models_want_none(tmp_path):
    more = f'{BEFORE}    pets: Mapped[list["Pet"]] = relationship(back_populates="owner")\n    full = column_property(name)\n    count: int = 0\n'
    assert missing(tmp_path / "a", more) == []
    trees = trees_of(tmp_path / "b", {"people.py": BEFORE, "migrations/1.sql": "SELECT 1;"}, {"models.py": BEFORE})
    assert list(unmigrated_columns(trees, migration_files(trees.head))) == []
    assert mapped_tables("x = Column(\n") == []


TABLES = "CREATE TABLE shows (id SERIAL PRIMARY KEY, title TEXT);\nALTER TABLE shows ADD COLUMN feed TEXT;\nCREATE INDEX a ON casts (title);\n"


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT id, title,\n  duration FROM shows WHERE id = $1", [("duration", 2)]),
        ("insert into Shows (title, length) values ($1, $2)", [("length", 1)]),
        ("UPDATE shows SET heard = $1", [("heard", 1)]),
        ("SELECT id, title, feed FROM shows ORDER BY title", []),
        ("SELECT DISTINCT Title FROM shows", []),
        ("SELECT title, host FROM shows JOIN casts USING (id)", []),
        ("SELECT id, host FROM shows s, casts c", []),
        ("SELECT host FROM casts", []),
        ("SELECT count(*) FROM shows", []),
    ],
)
def test_a_query_of_a_column_that_no_migration_makes_is_named(tmp_path, query, columns):
    trees = trees_of(tmp_path, {"migrations/1.sql": TABLES, "server/store.js": f"const q = `{query}`;\n"})
    told = unmade_columns(trees, migration_files(trees.head))
    assert [(each.message.rpartition(" ")[2], each.line) for each in told] == columns
