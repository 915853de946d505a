"""permits expire"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("permits", sa.Column("expires_on", sa.Date, nullable=True))


def downgrade() -> None:
    op.drop_column("permits", "expires_on")
