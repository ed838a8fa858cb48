"""An index of the runs that are open: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0010_open"
down_revision = "0009_damaged"


def upgrade() -> None:
    """Run the file."""
    run_sql("0010_open.sql")
