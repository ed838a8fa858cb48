"""Lets a login that may append and no more read the revision: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0012_revision"
down_revision = "0011_budget_rows"


def upgrade() -> None:
    """Run the file."""
    run_sql("0012_revision.sql")
