"""The feed, its roots and marks: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0002_feed"
down_revision = "0001_ledger"


def upgrade() -> None:
    """Run the file."""
    run_sql("0002_feed.sql")
