"""Users, charges in a chain, and one lasting limit or several."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From nothing."""
    op.create_table(
        "limits",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("claim", sa.Text, nullable=False),
        sa.Column("levels", sa.Text, nullable=False),
        sa.Column("days", sa.Integer, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "charges",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("stage", sa.Integer, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("neighbours", sa.Text, nullable=False),
        sa.Column("certificate", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("key", "stage"),
    )
    op.create_table(
        "uses",
        sa.Column("charge", sa.BigInteger, sa.ForeignKey("charges.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("mechanism", sa.Text, nullable=False),
        sa.Column("times", sa.BigInteger, nullable=False),
        sa.Column("costs", sa.Text, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("charge", sa.BigInteger, sa.ForeignKey("charges.id"), primary_key=True),
        sa.Column("user", sa.BigInteger, sa.ForeignKey("users.id"), primary_key=True),
    )
    op.create_table(
        "balances",
        sa.Column("user", sa.BigInteger, sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("limit", sa.Integer, sa.ForeignKey("limits.id"), primary_key=True),
        sa.Column("spent", sa.Text, nullable=False),
    )
    op.create_table(
        "head",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("charges", sa.BigInteger, nullable=False),
        sa.Column("users", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("neighbours", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """To nothing: what was recorded is gone."""
    for table in ("head", "balances", "entries", "uses", "charges", "users", "limits"):
        op.drop_table(table)
