import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "appointments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("patient_id", sa.Integer, sa.ForeignKey("patients.id"), nullable=False),
        sa.Column("starts_at", sa.DateTime, nullable=False),
    )
    op.add_column("patients", sa.Column("insurance", sa.String, nullable=False))
    op.drop_column("patients", "phone")


def downgrade() -> None:
    pass
