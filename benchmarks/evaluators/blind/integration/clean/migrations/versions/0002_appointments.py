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
        sa.Column("reminder_at", sa.DateTime),
    )
    op.add_column("patients", sa.Column("insurance", sa.String, nullable=False, server_default="none"))
    op.add_column("patients", sa.Column("password_hash", sa.String))


def downgrade() -> None:
    op.drop_column("patients", "password_hash")
    op.drop_column("patients", "insurance")
    op.drop_table("appointments")
