"""The ledger on a real Postgres: appends, reads, submissions and verification."""
