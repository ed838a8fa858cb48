"""Triggers and roles that keep what was recorded: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0007_guard"
down_revision = "0006_each"


def upgrade() -> None:
    """Run the file."""
    run_sql("0007_guard.sql")
