"""permits"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "permits",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("plate", sa.String(12), nullable=False),
        sa.Column("zone", sa.String(4), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("permits")
