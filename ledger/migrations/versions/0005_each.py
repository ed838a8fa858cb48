"""One fact to each of several streams: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0005_each"
down_revision = "0004_projections"


def upgrade() -> None:
    """Run the file."""
    run_sql("0005_each.sql")
