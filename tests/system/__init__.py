"""Whole processes: real Temporal, real Postgres, kills and restarts."""
