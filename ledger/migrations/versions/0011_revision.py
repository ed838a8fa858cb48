"""Lets a login that may append and no more read the revision: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0011_revision"
down_revision = "0010_open"


def upgrade() -> None:
    """Run the file."""
    run_sql("0011_revision.sql")
