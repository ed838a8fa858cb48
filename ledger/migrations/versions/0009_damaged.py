"""What is wrong with a run whose events cannot be read: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0009_damaged"
down_revision = "0008_several"


def upgrade() -> None:
    """Run the file."""
    run_sql("0009_damaged.sql")
