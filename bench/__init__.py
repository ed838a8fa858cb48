"""Legato beside bare Temporal and beside its peers: the same work, timed on one server."""
