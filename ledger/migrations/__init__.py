"""Schema revisions: each runs one named SQL file."""
