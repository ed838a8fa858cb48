"""The ledger's first schema: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0001_ledger"
down_revision = None


def upgrade() -> None:
    """Run the file."""
    run_sql("0001_ledger.sql")
