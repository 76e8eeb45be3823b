"""The entries of one user are found without reading all of them."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """An index."""
    op.create_index("entries_by_user", "entries", ["user", "charge"])


def downgrade() -> None:
    """Without it."""
    op.drop_index("entries_by_user", "entries")
