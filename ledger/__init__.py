"""The append-only record in Postgres, its reads and its verification."""
