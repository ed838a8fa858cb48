"""What lists tell of a run's budget: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0011_budget_rows"
down_revision = "0010_open"


def upgrade() -> None:
    """Run the file."""
    run_sql("0011_budget_rows.sql")
