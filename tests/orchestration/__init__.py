"""Workflows against a real server, with scripted activities."""
