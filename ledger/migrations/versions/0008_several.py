"""Several facts to each of several streams: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0008_several"
down_revision = "0007_guard"


def upgrade() -> None:
    """Run the file."""
    run_sql("0008_several.sql")
