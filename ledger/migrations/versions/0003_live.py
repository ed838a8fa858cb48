"""Text on its way to viewers: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0003_live"
down_revision = "0002_feed"


def upgrade() -> None:
    """Run the file."""
    run_sql("0003_live.sql")
