"""The search attributes of a run in Temporal: one table, at most ten keywords."""

from __future__ import annotations

STATUS = "LegatoStatus"
WAITING_ON = "LegatoWaitingOn"

KEYWORDS = (
    "LegatoWorkspace",
    "LegatoAgent",
    "LegatoProfile",
    STATUS,
    "LegatoSession",
    "LegatoEntry",
    WAITING_ON,
)
"""Registered with the server at its start; set when a status or a wait changes."""
