"""Triggers and roles that keep what was recorded: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0006_guard"
down_revision = "0005_pace"


def upgrade() -> None:
    """Run the file."""
    run_sql("0006_guard.sql")
