"""${message}: runs its SQL file."""

from ledger.migrations.run_sql import run_sql

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Run the file."""
    run_sql("${up_revision}.sql")
