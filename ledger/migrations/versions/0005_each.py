"""One fact to each of several streams: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0004_each"
down_revision = "0003_live"


def upgrade() -> None:
    """Run the file."""
    run_sql("0004_each.sql")
