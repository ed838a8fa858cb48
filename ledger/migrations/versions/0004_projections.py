"""The projections' tables: runs their SQL file."""

from ledger.migrations.run_sql import run_sql

revision = "0004_projections"
down_revision = "0003_live"


def upgrade() -> None:
    """Run the file."""
    run_sql("0004_projections.sql")
